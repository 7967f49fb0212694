import { defineCommand } from '../command.ts';
import { inEnvironment, serviceHelp, serviceOptions } from '../service-command.ts';

export const demo = defineCommand({
  name: 'demo',
  usage: '',
  summary: 'Set up the demo provider: its integrations and functions',
  about: `Creates the integrations demo-oauth and demo-key of the fake provider in the box, and deploys their functions: the
sync contacts, the action rename-contact and the on-event function receive-webhooks. Needs no network. Repeating it
changes nothing. Only a gateway on loopback with the embedded log has the provider.`,
  options: serviceOptions,
  help: `${serviceHelp}

Examples
  svc demo -e dev`,

  async run({ values }, context) {
    const { output } = context;
    await inEnvironment(context, values, async (client) => {
      const answer = await client.request('POST /demo');
      if (values.json === true) {
        output.result(JSON.stringify(answer));
        return;
      }
      for (const { unique_key: key, functions } of answer.data.integrations) {
        output.result(`${key}: ${functions.join(', ')}`);
      }
      output.note('svc connect demo-oauth prints a link; the API key of demo-key is "demo"');
    });
  },
});
