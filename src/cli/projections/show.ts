import type { Projection, ProjectionGeneration } from '#client/index.ts';
import { columns } from '../columns.ts';

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

export type Verification = NonNullable<ProjectionGeneration['verification']>;

const heads = [
  'projection',
  'generation',
  'state',
  'schema',
  'position',
  'end',
  'lag',
  'rows',
  'size',
];

/** One line per generation, in columns. */
export function tableLines(projections: readonly Projection[]): Promise<string[]> {
  const rows = projections.flatMap(({ name, generations }) =>
    generations.map((one) => [
      name,
      one.generation,
      one.is_paused ? `${one.state}, paused` : one.state,
      one.schema_version,
      one.position,
      one.end,
      one.lag,
      one.rows,
      sizeText(one.bytes),
    ]),
  );
  return columns(heads, rows, 3);
}

/** The result of a comparison as readable text. */
export function verificationLines(verification: Verification): string[] {
  const { state, streams, expected_rows: expected, found_rows: found } = verification;
  if (state === 'running') return ['The comparison is under way.'];
  if (state === 'failed') return [`The comparison failed: ${verification.failure ?? ''}.`];
  const compared = `${streams} streams, ${expected} and ${found} records`;
  if (state === 'passed') return [`No difference: ${compared}.`];
  return [
    `${verification.differences} differences: ${compared}.`,
    ...verification.examples.map(
      ({ table, partition, stream, expected_rows: a, found_rows: b }) =>
        `  ${table}, partition ${partition}, stream ${stream}: ${a} rows are read, ${b} were built`,
    ),
  ];
}

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
