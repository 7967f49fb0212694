import { createAction } from 'svc';
import { z } from 'zod';
import { packagePath, type PackageDocument } from '../package-document.js';

const action = createAction({
  description: 'The newest version of a package',
  version: '1.0.0',
  input: z.object({ name: z.string() }),
  output: z.object({ name: z.string(), version: z.string() }),

  exec: async (svc, input) => {
    const response = await svc.get<PackageDocument>({
      endpoint: packagePath(input.name),
      retries: 3,
    });
    const version = response.data['dist-tags']?.['latest'];
    if (version === undefined) {
      throw new svc.ActionError({ message: `The package ${input.name} has no latest version` });
    }
    return { name: input.name, version };
  },
});

export default action;
