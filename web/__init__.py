"""The browser side: plain ES modules and custom elements. A package only so that it is shipped; see README.md."""
