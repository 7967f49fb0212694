import { createSync } from 'svc';
import { z } from 'zod';

const JiraIssue = z.object({
  id: z.string(),
  key: z.string(),
  summary: z.string(),
  status: z.string(),
});

interface Issue {
  id: string;
  key: string;
  fields: { summary: string; status: { name: string } };
}

const sync = createSync({
  description: 'Issues of the projects that the metadata names',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: false,
  models: { JiraIssue },
  metadata: z.object({ projects: z.array(z.string()) }),

  exec: async (svc) => {
    const { projects } = await svc.getMetadata();
    for (const project of projects) {
      const pages = svc.paginate<Issue>({
        endpoint: '/rest/api/3/search',
        params: { jql: `project = "${project}" ORDER BY created`, fields: 'summary,status' },
        paginate: {
          type: 'offset',
          offset_name_in_request: 'startAt',
          offset_calculation_method: 'by-response-size',
          response_path: 'issues',
          limit_name_in_request: 'maxResults',
          limit: 2,
        },
        retries: 3,
      });
      for await (const issues of pages) {
        const rows = issues.map(({ id, key, fields }) => ({
          id,
          key,
          summary: fields.summary,
          status: fields.status.name,
        }));
        await svc.batchSave(rows, 'JiraIssue');
      }
    }
  },
});

export default sync;
