/** The responses to probes, in every process of the service. */
export const healthResponse = { status: 200, body: { result: 'ok' } } as const;

/** @param reasons why this node is not ready; none = ready */
export function readyResponse(reasons: readonly string[]) {
  if (reasons.length === 0) return { status: 200, body: { result: 'ok' } };
  return { status: 503, body: { result: 'not ready', reasons } };
}
