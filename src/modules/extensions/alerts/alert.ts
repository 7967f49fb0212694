import type { Decider } from '#kernel/decider.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { AlertKind } from '../alert-destinations/alert-destination.ts';

/** A message to all destinations that want the kind. */
export interface Notice {
  readonly state: 'firing' | 'recovered';
  readonly count: number;
  readonly subjects: readonly string[];
  /** Why, by subject. Absent: not known, or by an earlier release. */
  readonly reasons?: Readonly<Record<string, string>>;
  readonly at: Instant;
  /** Number of earlier tries. */
  readonly tries: number;
  /** Those that have not accepted it yet; null: none was tried. */
  readonly pending: readonly string[] | null;
}

/** Scope = environment uid; path [environment uid, kind]. */
export interface Alert {
  readonly environmentUid: string;
  readonly kind: AlertKind;
  /** What the alert is about now; 0: it does not fire. */
  readonly count: number;
  /** The names of some of them. */
  readonly subjects: readonly string[];
  /** Of the last change between firing and not firing. */
  readonly since: Instant;
  /** `count` of the last notice about the present failure; 0: there was none. */
  readonly noticedCount: number;
  /** Time of the last notice of a failure; null: there was none. */
  readonly noticedAt: Instant | null;
  /** The notice that is being sent. */
  readonly notice: Notice | null;
}

export type AlertEvent =
  | {
      readonly type: 'AlertObserved';
      readonly observed: Pick<
        Alert,
        'environmentUid' | 'kind' | 'count' | 'subjects' | 'since' | 'noticedCount'
      >;
    }
  | { readonly type: 'NoticeIssued'; readonly notice: Notice }
  | { readonly type: 'NoticeTried'; readonly tries: number; readonly pending: readonly string[] }
  | { readonly type: 'NoticeClosed' }
  | { readonly type: 'AlertDeleted' };

/** Facts that the owner adds: `at`. */
export type AlertCommand =
  | ({
      readonly type: 'Observe';
      readonly reasons?: Readonly<Record<string, string>> | undefined;
      readonly at: Instant;
    } & Pick<Alert, 'environmentUid' | 'kind' | 'count' | 'subjects'>)
  /** `of` is the `at` of the notice; `pending` lists the destinations that have not accepted it. */
  | { readonly type: 'NoteTry'; readonly of: Instant; readonly pending: readonly string[] }
  | { readonly type: 'Delete' };

/**
 * When people are notified: once for a failure and once more each time that it has grown, but not within a pause after
 * the last notice of a failure; and once when it is over, if its beginning was reported.
 */
export const alert: Decider<Alert | null, AlertCommand, AlertEvent> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Observe') return observed(command, state);
    if (state === null) return [];
    if (command.type === 'Delete') return [{ type: 'AlertDeleted' }];
    const { notice } = state;
    if (notice?.at !== command.of) return [];
    const tries = notice.tries + 1;
    const isOver = command.pending.length === 0 || tries >= limits.alertTriesMax;
    return isOver
      ? [{ type: 'NoticeClosed' }]
      : [{ type: 'NoticeTried', tries, pending: command.pending }];
  },

  evolve(state, event) {
    switch (event.type) {
      case 'AlertObserved':
        return { notice: null, noticedAt: null, ...state, ...event.observed };
      case 'NoticeIssued': {
        if (state === null) return null;
        const { notice } = event;
        const issued = { ...state, notice };
        return notice.state === 'firing'
          ? { ...issued, noticedCount: notice.count, noticedAt: notice.at }
          : issued;
      }
      case 'NoticeTried': {
        if (state?.notice == null) return state;
        const { tries, pending } = event;
        return { ...state, notice: { ...state.notice, tries, pending } };
      }
      case 'NoticeClosed':
        return state === null ? null : { ...state, notice: null };
      case 'AlertDeleted':
        return null;
    }
  },
};

function observed(
  command: Extract<AlertCommand, { type: 'Observe' }>,
  state: Alert | null,
): AlertEvent[] {
  const { environmentUid, kind, count, subjects, reasons = {}, at } = command;
  const before = state?.count ?? 0;
  if (count === 0 && before === 0) return [];
  const noticedCount = state?.noticedCount ?? 0;
  const isSince = (count === 0) === (before === 0);
  const events: AlertEvent[] = [];
  const hasChanged = count !== before || subjects.join() !== state?.subjects.join();
  if (hasChanged) {
    const since = isSince ? (state?.since ?? at) : at;
    const alert = { environmentUid, kind, count, subjects, since };
    const noticed = { noticedCount: count === 0 ? 0 : noticedCount };
    events.push({ type: 'AlertObserved', observed: { ...alert, ...noticed } });
  }
  const notice = { count, subjects, at, tries: 0, pending: null };
  if (count === 0) {
    if (noticedCount > 0) {
      events.push({ type: 'NoticeIssued', notice: { ...notice, state: 'recovered' } });
    }
    return events;
  }
  const noticedAt = state?.noticedAt ?? null;
  const isPaused = noticedAt !== null && at - noticedAt < limits.alertPauseMs;
  if (count > noticedCount && !isPaused) {
    events.push({ type: 'NoticeIssued', notice: { ...notice, reasons, state: 'firing' } });
  }
  return events;
}
