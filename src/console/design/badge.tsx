import type { ComponentChildren, JSX } from 'preact';

export type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'info';

interface BadgeProps {
  readonly children: ComponentChildren;
  readonly tone?: Tone;
  /** Something that goes on now. */
  readonly isLive?: boolean;
}

export function Badge({ children, tone = 'plain', isLive = false }: BadgeProps): JSX.Element {
  return (
    <span class={`badge ${tone} ${isLive ? 'live' : ''}`}>
      <span class="dot" aria-hidden="true" />
      {children}
    </span>
  );
}

const tones: Readonly<Record<string, Tone>> = {
  success: 'good',
  succeeded: 'good',
  delivered: 'good',
  accepted: 'good',
  reprocessed: 'good',
  resolved: 'good',
  active: 'good',
  verified: 'good',
  ready: 'good',
  passed: 'good',
  added: 'good',
  restored: 'good',
  failed: 'bad',
  error: 'bad',
  rejected: 'bad',
  refused: 'bad',
  denied: 'bad',
  failure: 'bad',
  deleted: 'bad',
  purged: 'bad',
  timeout: 'bad',
  timed_out: 'bad',
  interrupted: 'warn',
  cancelled: 'warn',
  paused: 'warn',
  stopped: 'warn',
  parked: 'warn',
  unmatched: 'warn',
  kept: 'plain',
  warn: 'warn',
  pruned: 'warn',
  running: 'info',
  retrying: 'info',
  building: 'info',
  verifying: 'info',
  updated: 'info',
  info: 'info',
};

/** The states in which something goes on. */
const live = new Set(['running', 'retrying', 'building', 'verifying']);

/** A state of the API, such as `timed_out`. */
export function StateBadge({ state }: { readonly state: string }): JSX.Element {
  const name = state.toLowerCase();
  return (
    <Badge tone={tones[name] ?? 'plain'} isLive={live.has(name)}>
      {name.replaceAll('_', ' ')}
    </Badge>
  );
}
