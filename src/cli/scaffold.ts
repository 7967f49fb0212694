import type { FunctionKind } from '#modules/functions/functions/function.ts';
import { compilerChecks, importLine } from './project-layout.ts';

/** Files of a project, by path, as `svc init` writes them. Every scaffold compiles unchanged. */
export type Files = Readonly<Record<string, string>>;

/** A new function that does nothing yet. */
export function functionScaffold(kind: FunctionKind): string {
  switch (kind) {
    case 'sync':
      return syncScaffold;
    case 'action':
      return actionScaffold;
    case 'on-event':
      return onEventScaffold;
  }
}

/** The files of a new project besides package.json, which contains versions. */
export function projectFiles(): Files {
  return {
    '.env': envFile,
    '.gitignore': 'dist/\nbuild/\nnode_modules/\n.env\n',
    '.svc/.gitkeep': '',
    'tsconfig.json': tsconfigText,
    'index.ts': `// Every function that is deployed, one line each. The first folder is the integration.
${importLine('demo', 'sync', 'articles')}${importLine('demo', 'action', 'create-article')}${importLine('demo', 'on-event', 'check-access')}`,
    'demo/syncs/articles.ts': articlesSync,
    'demo/actions/create-article.ts': createArticleAction,
    'demo/on-events/check-access.ts': checkAccessOnEvent,
  };
}

/** The built-in options, for editors: the compiler does not read the file. */
const tsconfig = {
  compilerOptions: {
    ...compilerChecks,
    module: 'node16',
    moduleResolution: 'node16',
    target: 'esnext',
  },
  include: ['**/*.ts'],
  exclude: ['node_modules', 'build', 'dist'],
};

/** What `tsconfig.json` of a project holds. */
export const tsconfigText = `${JSON.stringify(tsconfig, null, 2)}\n`;

const envFile = `# API keys of the environments that this project is deployed to
SVC_SECRET_KEY_DEV=
SVC_SECRET_KEY_PROD=
# Address of the service
SVC_HOSTPORT=http://localhost:3003
`;

const syncScaffold = `import { createSync } from 'svc';
import { z } from 'zod';

const Item = z.object({
  id: z.string(),
});

const sync = createSync({
  description: 'Describe what is fetched',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Item },

  exec: async (svc) => {
    const response = await svc.get<z.infer<typeof Item>[]>({ endpoint: '/items', retries: 3 });
    await svc.batchSave(response.data, 'Item');
  },
});

export default sync;
`;

const actionScaffold = `import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Describe what is done',
  version: '1.0.0',
  input: z.object({ id: z.string() }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    await svc.post({ endpoint: '/items', data: input, retries: 3 });
    return { id: input.id };
  },
});

export default action;
`;

const onEventScaffold = `import { createOnEvent } from 'svc';

const onEvent = createOnEvent({
  description: 'Describe what happens',
  version: '1.0.0',
  event: 'post-connection-creation',

  exec: async (svc) => {
    await svc.log(\`Connected \${svc.connectionId}\`);
  },
});

export default onEvent;
`;

const articlesSync = `import { createSync } from 'svc';
import { z } from 'zod';

const Article = z.object({
  id: z.string(),
  title: z.string(),
  updatedAt: z.string(),
});
type Article = z.infer<typeof Article>;

const sync = createSync({
  description: 'Articles, from the one changed longest ago to the newest',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Article },
  checkpoint: z.object({ updatedSince: z.string() }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const pages = svc.paginate<Article>({
      endpoint: '/articles',
      params: { sort: 'updatedAt', updatedSince: checkpoint?.updatedSince ?? '' },
      paginate: {
        type: 'offset',
        offset_name_in_request: 'offset',
        limit_name_in_request: 'limit',
        limit: 100,
      },
      retries: 3,
    });
    for await (const articles of pages) {
      await svc.batchSave(articles, 'Article');
      const last = articles.at(-1);
      if (last !== undefined) await svc.saveCheckpoint({ updatedSince: last.updatedAt });
    }
  },
});

export default sync;
`;

const createArticleAction = `import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Creates an article',
  version: '1.0.0',
  input: z.object({ title: z.string(), body: z.string() }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    if (input.title.trim() === '') throw new svc.ActionError({ message: 'A title is needed' });
    const response = await svc.post<{ id: string }>({
      endpoint: '/articles',
      data: input,
      retries: 3,
    });
    return { id: response.data.id };
  },
});

export default action;
`;

const checkAccessOnEvent = `import { createOnEvent } from 'svc';

const onEvent = createOnEvent({
  description: 'Refuses a connection whose account may not read articles',
  version: '1.0.0',
  event: 'validate-connection',

  exec: async (svc) => {
    await svc.get({ endpoint: '/articles', params: { limit: 1 }, retries: 3 });
  },
});

export default onEvent;
`;
