import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Says what it was given wherever it can',
  version: '1.0.0',
  input: z.object({ how: z.enum(['action-error', 'exception']) }),
  output: z.void(),
  exec: async (svc, { how }) => {
    const { credentials } = await svc.getConnection();
    const variables = (await svc.getEnvironmentVariables()) ?? [];
    const secrets = [
      ...Object.entries(credentials).flatMap(([name, value]) =>
        name === 'type' ? [] : [String(value)],
      ),
      ...variables.map(({ value }) => value),
    ];
    const encoded = secrets.flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64'),
      Buffer.from(`user:${secret}`).toString('base64'),
    ]);
    const said = `It did not work with ${encoded.join(' or ')}`;
    await svc.log(said, { encoded }, { level: 'error' });
    await svc.saveCheckpoint({ at: 'here' });
    if (how === 'action-error') throw new svc.ActionError({ message: said, [said]: encoded });
    throw Object.assign(new Error(said), { code: secrets[0] });
  },
});

export default action;
