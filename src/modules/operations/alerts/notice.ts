import type { AlertKind } from '../alert-destinations/alert-destination.ts';

/** The content of a notice to a destination. */
export interface NoticeContent {
  readonly id: string;
  readonly environment: string;
  readonly kind: AlertKind | 'test';
  readonly state: 'firing' | 'recovered' | 'test';
  readonly count: number;
  readonly subjects: readonly string[];
  /** RFC 3339. */
  readonly at: string;
}

const summaries: Readonly<Record<AlertKind, readonly [one: string, many: string]>> = {
  connections_failing: ['connection fails', 'connections fail'],
  refreshes_failing: [
    'connection or integration cannot be refreshed',
    'connections or integrations cannot be refreshed',
  ],
  dead_letters: ['message was parked', 'messages were parked'],
  projections_stuck: ['projection is stuck', 'projections are stuck'],
};

/** One line, for people. */
export function summaryOf({ environment, kind, state, count }: NoticeContent): string {
  if (kind === 'test') return `${environment}: this is a test of an alert destination.`;
  if (state === 'recovered') return `${environment}: recovered, no ${summaries[kind][0]} any more.`;
  return `${environment}: ${count} ${summaries[kind][count === 1 ? 0 : 1]}.`;
}

/** The summary, and the subjects one a line. */
export const noticeText = (content: NoticeContent): string =>
  [summaryOf(content), ...content.subjects.map((subject) => `- ${subject}`)].join('\n');

/** The body of a webhook. */
export const bodyOf = (content: NoticeContent): string =>
  JSON.stringify({
    type: 'alert',
    from: 'svc',
    id: content.id,
    environment: content.environment,
    alert: content.kind,
    state: content.state,
    summary: summaryOf(content),
    count: content.count,
    subjects: content.subjects,
    at: content.at,
  });

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Slack reads mentions and links between angle brackets: names of connections come from outside. */
export const slackBodyOf = (content: NoticeContent): string =>
  JSON.stringify({
    text: noticeText(content).replaceAll(/[&<>]/g, (sign) => escapes[sign] ?? sign),
  });
