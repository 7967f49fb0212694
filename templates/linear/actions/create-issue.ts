import { createAction } from 'svc';
import { z } from 'zod';

interface IssueAccess {
  id: string;
  identifier: string;
  url: string;
}

interface Answer {
  data?: { issueCreate?: { issue: IssueAccess | null } | null; issue?: IssueAccess } | null;
  errors?: { message: string; extensions?: { code?: string; userPresentableMessage?: string } }[];
}

interface Refusal {
  response?: { status?: number; data?: Answer };
}

const badRequest = 400;
const rateLimited = 'RATELIMITED';

const mutation = `mutation issueCreate($input: IssueCreateInput!) {
  issueCreate(input: $input) {
    success
    issue { id identifier url }
  }
}`;

const query = `query issue($id: String!) {
  issue(id: $id) { id identifier url }
}`;

const priorities = { urgent: 1, high: 2, normal: 3, low: 4 } as const;

const action = createAction({
  description: 'Opens an issue in a team',
  version: '1.0.2',
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
    const ask = (operationName: string, text: string, variables: Record<string, unknown>) =>
      svc
        .post<Answer>({
          endpoint: '/graphql',
          data: { operationName, query: text, variables },
          retries: 3,
        })
        .then(
          (response) => response.data,
          (error: unknown) => {
            const { status, data: refusal } = (error as Refusal).response ?? {};
            if (status !== badRequest || refusal?.errors === undefined) throw error;
            // A limit refuses no issue.
            if (refusal.errors.some((one) => one.extensions?.code === rateLimited)) throw error;
            return refusal;
          },
        );
    // With an id of its own a repeated attempt opens no second issue.
    const id = crypto.randomUUID();
    const issue = {
      id,
      teamId: input.team_id,
      title: input.title,
      description: input.description,
      priority: input.priority === undefined ? undefined : priorities[input.priority],
      assigneeId: input.assignee_id,
      labelIds: input.label_ids,
    };
    const { data, errors } = await ask('issueCreate', mutation, { input: issue });
    // What is refused may have been opened by an earlier attempt whose response was lost.
    const opened = data?.issueCreate?.issue ?? (await ask('issue', query, { id })).data?.issue;
    if (opened) return { id: opened.id, key: opened.identifier, url: opened.url };
    const [refusal] = errors ?? [];
    const message =
      refusal?.extensions?.userPresentableMessage ?? refusal?.message ?? 'Linear refuses the issue';
    throw new svc.ActionError({ type: 'issue_refused', message });
  },
});

export default action;
