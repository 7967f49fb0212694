/**
 * What endpoints promise and no test provokes through the test gateways, by why. Each line is a debt: the run fails
 * on anything else that is unseen, and on a line that no endpoint promises any more.
 */
export const gaps: Readonly<Record<string, readonly string[]>> = {};
