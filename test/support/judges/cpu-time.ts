/** Samples of each work; odd, so that the median is one of them. */
const samples = 7;

export interface Slowness {
  /** Median of the processor time that a call takes, in ms. */
  readonly ms: number;
  /** That of the other work. */
  readonly otherMs: number;
}

export interface SlowerOptions {
  /** Calls of one sample. */
  readonly calls?: number;
  /** Processor time spent so far; default: that of this process. */
  readonly cpuMs?: () => number | Promise<number>;
}

/**
 * Null unless the work takes more than `ratio` times the processor time of the other. One sample of each clears most;
 * otherwise samples of both alternate and their medians count, so that neither a busy machine nor a collection of
 * garbage decides.
 */
export async function slowerThan(
  ratio: number,
  work: () => unknown,
  other: () => unknown,
  { calls = 1, cpuMs = ownCpuMs }: SlowerOptions = {},
): Promise<Slowness | null> {
  const sample = async (run: () => unknown): Promise<number> => {
    const before = await cpuMs();
    for (let call = 0; call < calls; call += 1) await run();
    return ((await cpuMs()) - before) / calls;
  };
  const times: { readonly ms: number; readonly otherMs: number }[] = [];
  for (let count = 0; count < samples; count += 1) {
    times.push({ otherMs: await sample(other), ms: await sample(work) });
    const [first] = times;
    if (count === 0 && first !== undefined && first.ms <= ratio * first.otherMs) return null;
  }
  const slowness = {
    ms: median(times.map(({ ms }) => ms)),
    otherMs: median(times.map(({ otherMs }) => otherMs)),
  };
  return slowness.ms > ratio * slowness.otherMs ? slowness : null;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[(values.length - 1) / 2] ?? Number.NaN;

/** The processor time of this process that a call takes, in ms. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = ownCpuMs();
  await work();
  return ownCpuMs() - before;
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
