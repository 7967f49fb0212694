import { createAction } from 'svc';
import { z } from 'zod';

interface CreationResponse {
  data?: {
    issueCreate: {
      success: boolean;
      issue: { id: string; identifier: string; url: string } | null;
    };
  } | null;
  errors?: { message: string; extensions?: { userPresentableMessage?: string } }[];
}

interface Refusal {
  response?: { status?: number; data?: CreationResponse };
}

const badRequest = 400;

const mutation = `mutation issueCreate($input: IssueCreateInput!) {
  issueCreate(input: $input) {
    success
    issue { id identifier url }
  }
}`;

const priorities = { urgent: 1, high: 2, normal: 3, low: 4 } as const;

const action = createAction({
  description: 'Opens an issue in a team',
  version: '1.0.0',
  scopes: ['issues:create'],
  input: z.object({
    team_id: z.string().min(1),
    title: z.string().min(1),
    /** Markdown. */
    description: z.string().optional(),
    priority: z.enum(['low', 'normal', 'high', 'urgent']).optional(),
    assignee_id: z.string().optional(),
    label_ids: z.array(z.string()).optional(),
  }),
  output: z.object({ id: z.string(), key: z.string(), url: z.string() }),

  exec: async (svc, input) => {
    const issue = {
      teamId: input.team_id,
      title: input.title,
      description: input.description,
      priority: input.priority === undefined ? undefined : priorities[input.priority],
      assigneeId: input.assignee_id,
      labelIds: input.label_ids,
    };
    const data = await svc
      .post<CreationResponse>({
        endpoint: '/graphql',
        data: { operationName: 'issueCreate', query: mutation, variables: { input: issue } },
        retries: 3,
      })
      .then(
        (response) => response.data,
        (error: unknown) => {
          const { status, data: refusal } = (error as Refusal).response ?? {};
          if (status !== badRequest || refusal?.errors === undefined) throw error;
          return refusal;
        },
      );
    const created = data.data?.issueCreate.issue;
    if (created) return { id: created.id, key: created.identifier, url: created.url };
    const [refusal] = data.errors ?? [];
    const message =
      refusal?.extensions?.userPresentableMessage ?? refusal?.message ?? 'Linear refuses the issue';
    throw new svc.ActionError({ type: 'issue_refused', message });
  },
});

export default action;
