import { parseArgs } from 'node:util';
import { readLogSettings } from '#app/config/config.ts';
import { grantTopicRights } from '#app/tools/grant-rights.ts';
import { CannotStart } from '#kernel/cannot-start.ts';

/** Prints, or grants, the rights of a principal at Kafka; arguments as `svc topics grant` gives them. */
try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { service: { type: 'boolean' }, apply: { type: 'boolean' } },
  });
  const [principal = '', group = '', ...topics] = positionals;
  const commands = await grantTopicRights(
    {
      principal,
      group,
      read: values.service === true ? null : topics,
      isApplied: values.apply === true,
    },
    readLogSettings(),
  );
  console.log(commands.join('\n'));
  process.exit(0);
} catch (error) {
  const { message, name } = error as Error;
  const isPlain = CannotStart.is(error) || name.startsWith('Kafka');
  console.error(isPlain ? message : error);
  process.exit(1);
}
