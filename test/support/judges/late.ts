/** Prints what a test waits for after this time, before the test's own limit ends it without a word. */
const lateMs = 60_000;

/** Prints the text and the waiting code when it is not disposed of in time: the wait goes on. */
export function sayWhenLate(text: () => string): Disposable {
  const { stack = '' } = new Error('A test still waits here');
  const timer = setTimeout(() => console.warn(`${stack}\n${text()}`), lateMs).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
