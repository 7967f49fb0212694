import { createAction } from 'svc';
import { z } from 'zod';
import { issueOf, SentryIssue, type SentryApiIssue } from '../issue.js';

interface Refusal {
  response?: { status?: number; data?: { detail?: string } };
}

const badRequest = 400;
const notFound = 404;

const action = createAction({
  description: 'Changes the status, the priority or the assignee of an issue',
  version: '1.0.0',
  scopes: ['event:write'],
  input: z.object({
    /** The slug of the organization. */
    organization: z.string().min(1),
    issue_id: z.string().min(1),
    status: z.enum(['resolved', 'resolvedInNextRelease', 'unresolved', 'ignored']).optional(),
    priority: z.enum(['low', 'medium', 'high']).optional(),
    /** `user:<id>` or `team:<id>`. */
    assignee: z
      .string()
      .regex(/^(user|team):\S+$/)
      .optional(),
  }),
  output: SentryIssue,

  exec: async (svc, { organization, issue_id: id, status, priority, assignee }) => {
    try {
      const { data } = await svc.put<SentryApiIssue>({
        endpoint: `/api/0/organizations/${encodeURIComponent(organization)}/issues/${encodeURIComponent(id)}/`,
        data: { status, priority, assignedTo: assignee },
        retries: 3,
      });
      return issueOf(data);
    } catch (error) {
      const { status: responseStatus, data } = (error as Refusal).response ?? {};
      if (responseStatus === notFound) {
        const message = `Sentry has no issue ${id} in this organization`;
        throw new svc.ActionError({ type: 'issue_not_found', message });
      }
      if (responseStatus !== badRequest) throw error;
      const message = data?.detail ?? 'Sentry refuses the change';
      throw new svc.ActionError({ type: 'change_refused', message });
    }
  },
});

export default action;
