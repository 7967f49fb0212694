/** Called where a crash test may kill the process; a no-op otherwise. */
export type FaultPoint = (name: string) => void;

/**
 * `name` or `name@nth`: the process kills itself with SIGKILL when it reaches the point for the nth time (default:
 * the first). Null: no fault.
 */
export function createFaultPoint(spec: string | null): FaultPoint {
  if (spec === null) return () => undefined;
  const match = /^(?<point>.+?)(?:@(?<nth>\d+))?$/.exec(spec);
  const point = match?.groups?.['point'] ?? spec;
  let left = Number(match?.groups?.['nth'] ?? 1);
  return (name) => {
    if (name !== point) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  };
}
