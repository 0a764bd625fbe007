// What ESLint holds web/ to: no code that nobody uses, and none that only seems to do something. How it looks is no
// concern of this; whether names exist, and fit, is tsc's (jsconfig.json).

const js = require("@eslint/js"); // found by NODE_PATH: .ci/pages installs it

module.exports = [
  {
    files: ["web/**/*.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      ...js.configs.recommended.rules,
      "no-undef": "off",

      // unused
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", caughtErrors: "all" }],
      "no-unused-private-class-members": "error",
      "no-useless-assignment": "error",
      "no-useless-computed-key": "error",
      "no-useless-concat": "error",
      "no-useless-constructor": "error",
      "no-useless-rename": "error",
      "no-useless-return": "error",
      "no-unneeded-ternary": "error",
      "no-unused-expressions": ["error", { allowShortCircuit: true, allowTernary: true }],

      // likely to be meant otherwise
      "array-callback-return": "error",
      eqeqeq: "error",
      "no-constructor-return": "error",
      "no-self-compare": "error",
      "no-template-curly-in-string": "error",
      "no-unmodified-loop-condition": "error",
      "no-unreachable-loop": "error",
      "no-throw-literal": "error",
      "no-duplicate-imports": "error",
      "no-lonely-if": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-object-has-own": "error",
      "prefer-promise-reject-errors": "error",

      // what others have written becomes text, and never markup or code (web/house/element.js)
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-script-url": "error",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML" },
        { property: "outerHTML" },
        { property: "insertAdjacentHTML" },
        { object: "document", property: "write" },
      ],
    },
  },
];
