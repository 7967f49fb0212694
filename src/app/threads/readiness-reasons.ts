/** Why a thread is not ready, from several parts of it: null takes the reason of the part back. */
export type ReadinessReasons = (part: string, reason: string | null) => void;

/** Tells the reasons of all parts as one; null when there is none any more. */
export function joined(report: (reason: string | null) => void): ReadinessReasons {
  const reasons = new Map<string, string>();
  return (part, reason) => {
    if (reason === null) reasons.delete(part);
    else reasons.set(part, reason);
    report(reasons.size === 0 ? null : [...reasons.values()].join('; '));
  };
}
