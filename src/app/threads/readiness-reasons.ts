/** Why a thread is not ready, from several of its parts: null withdraws the part's reason. */
export type ReadinessReasons = (part: string, reason: string | null) => void;

/** Reports the reasons of all parts as one; null when there is none. */
export function joined(report: (reason: string | null) => void): ReadinessReasons {
  const reasons = new Map<string, string>();
  return (part, reason) => {
    if (reason === null) reasons.delete(part);
    else reasons.set(part, reason);
    report(reasons.size === 0 ? null : [...reasons.values()].join('; '));
  };
}
