/** Set by `npm run test:all`: rounds run at full length. */
export const longRunVariable = 'SVC_TEST_LONG';

/** How many rounds of a seeded test run: a few on each push, all of them in `npm run test:all`. */
export const roundsOf = ({ push, all }: { readonly push: number; readonly all: number }): number =>
  process.env[longRunVariable] === '1' ? all : push;
