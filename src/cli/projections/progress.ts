const barCells = 24;

export interface Progress {
  readonly phase: string;
  /** 0 to 1. */
  readonly share: number;
  readonly perSecond: number | null;
  readonly secondsLeft: number | null;
}

/** `building [######------] 50 %  20000/s  1 min 5 s left` */
export function progressLine(progress: Progress, hasBar: boolean): string {
  const { phase, share, perSecond, secondsLeft } = progress;
  const filled = Math.floor(share * barCells);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(barCells - filled)}]`;
  const parts = [
    phase,
    ...(hasBar ? [bar] : []),
    `${Math.floor(share * 100)} %`,
    ...(perSecond === null ? [] : [`${Math.round(perSecond)}/s`]),
    ...(secondsLeft === null ? [] : [`${durationText(secondsLeft)} left`]),
  ];
  return parts.join('  ');
}

export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
