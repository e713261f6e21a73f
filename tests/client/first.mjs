// Tests of Node; with FIRST=1, the first that fails ends all, which is enough to see that a broken client is caught.
import { test as register } from "node:test";

export const test = (name, body) => register(name, async () => {
  try {
    await body();
  } catch (error) {
    if (!process.env.FIRST) throw error;
    process.stdout.write(`not ok ${name}\n`);
    process.exit(1);
  }
});
