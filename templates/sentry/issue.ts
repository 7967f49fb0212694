import { z } from 'zod';

/** An issue as Sentry lists it. */
export const SentryApiIssue = z.object({
  id: z.string(),
  shortId: z.string(),
  title: z.string(),
  culprit: z.string().nullable(),
  level: z.string(),
  status: z.string(),
  substatus: z.string().nullish(),
  priority: z.string().nullish(),
  issueCategory: z.string(),
  issueType: z.string(),
  platform: z.string().nullable(),
  project: z.object({ id: z.string(), slug: z.string() }),
  assignedTo: z
    .object({ type: z.enum(['user', 'team']), id: z.string(), name: z.string() })
    .nullable(),
  /** Events, as text. */
  count: z.string(),
  userCount: z.number(),
  permalink: z.string(),
  firstSeen: z.string().nullable(),
  lastSeen: z.string().nullable(),
});
export type SentryApiIssue = z.infer<typeof SentryApiIssue>;

export const SentryIssue = z.object({
  id: z.string(),
  /** The name that people use, such as `APP-1A`. */
  key: z.string(),
  title: z.string(),
  culprit: z.string().nullable(),
  level: z.string(),
  status: z.string(),
  substatus: z.string().nullable(),
  priority: z.string().nullable(),
  category: z.string(),
  type: z.string(),
  platform: z.string().nullable(),
  project_id: z.string(),
  project_slug: z.string(),
  /** Of a user or a team. */
  assignee: z
    .object({ type: z.enum(['user', 'team']), id: z.string(), name: z.string() })
    .nullable(),
  event_count: z.number(),
  user_count: z.number(),
  url: z.string(),
  first_seen_at: z.string().nullable(),
  last_seen_at: z.string().nullable(),
});
export type SentryIssue = z.infer<typeof SentryIssue>;

export const issueOf = (issue: SentryApiIssue): SentryIssue => ({
  id: issue.id,
  key: issue.shortId,
  title: issue.title,
  culprit: issue.culprit || null,
  level: issue.level,
  status: issue.status,
  substatus: issue.substatus ?? null,
  priority: issue.priority ?? null,
  category: issue.issueCategory,
  type: issue.issueType,
  platform: issue.platform || null,
  project_id: issue.project.id,
  project_slug: issue.project.slug,
  assignee:
    issue.assignedTo === null
      ? null
      : { type: issue.assignedTo.type, id: issue.assignedTo.id, name: issue.assignedTo.name },
  event_count: Number(issue.count),
  user_count: issue.userCount,
  url: issue.permalink,
  first_seen_at: issue.firstSeen,
  last_seen_at: issue.lastSeen,
});
