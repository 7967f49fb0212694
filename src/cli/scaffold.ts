import type { FunctionKind } from '#modules/functions/functions/function.ts';
import { compilerChecks } from './project-layout.ts';

/** Files of a project, by path. */
export type Files = Readonly<Record<string, string>>;

/** A new function that does nothing yet, which compiles unchanged. */
export function functionScaffold(kind: FunctionKind): string {
  switch (kind) {
    case 'sync':
      return syncScaffold;
    case 'action':
      return actionScaffold;
    case 'on-event':
      return onEventScaffold;
    case 'on-change':
      return onChangeScaffold;
  }
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

/** What every project has besides package.json and its functions. */
export const projectFrame: Files = {
  '.env': envFile,
  '.gitignore': 'dist/\nbuild/\nnode_modules/\n.env\n.svc/fakes.json\n',
  '.svc/.gitkeep': '',
  'tsconfig.json': tsconfigText,
};

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

const onChangeScaffold = `import { createOnChange } from 'svc';

const onChange = createOnChange({
  description: 'Describe what is done with changes',
  version: '1.0.0',
  models: ['Item'],

  exec: async (svc, changes) => {
    for (const change of changes) await svc.log(\`\${change.action} \${change.record_id}\`);
  },
});

export default onChange;
`;
