/**
 * A Pyodide that knows no Python: it plays the protocol, so that the states of the page can be tested quickly.
 *
 * A script is lines of: "print TEXT", "say JSON" (to the board), "listen" (prints what the board says), "wait" (until
 * asked to stop), "spin" (busy until interrupted), "stubborn" (busy for ever), "fail LINE".
 */

export async function loadPyodide({ indexURL }) {
  const encoder = new TextEncoder();
  let interrupt = null;
  let print = () => {};
  let give = null;

  function spin() {
    while (Atomics.load(interrupt, 0) !== 2);
    Atomics.store(interrupt, 0, 0);
    return ["stopped"];
  }

  const lines = {
    print: (text) => print(`${text}\n`),
    say: (json) => self.sendHeroMessage(json),
    listen: () => self.registerSidekickMessageHandler((text) => print(`heard ${text}\n`)),
    wait: () => new Promise((resolve) => (give = () => resolve(["stopped"]))),
    spin,
    stubborn: () => { for (;;); },
    fail: (line) => ["error", `Traceback (most recent call last):\n  File "script.py", line ${line}, in <module>\nOops: no\n`],
  };

  return {
    setStdout: ({ write }) => (print = (text) => void write(encoder.encode(text))),
    setStderr() {},
    setInterruptBuffer: (buffer) => (interrupt = buffer),
    unpackArchive: (buffer, format) => print(`unpacked ${buffer.byteLength} bytes of ${format} from ${indexURL}\n`),
    loadPackagesFromImports: async () => {},
    runPython: () => ({
      async perform(source) {
        for (const line of source.split("\n").filter(Boolean)) {
          const [word] = line.split(" ", 1);
          const outcome = await lines[word](line.slice(word.length + 1));
          if (outcome) return JSON.stringify(outcome);
        }
        return JSON.stringify(["terminated"]);
      },
      give_up() {
        give?.();
        return give !== null;
      },
    }),
  };
}
