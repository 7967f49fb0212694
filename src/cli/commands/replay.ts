import { accountHelp, withAccount } from '../account.ts';
import { defineCommand } from '../command.ts';
import { resetOptions, resetGroup } from './consumers.ts';

export const replay = defineCommand({
  name: 'replay',
  usage: '<group>',
  summary: 'Have a consumer group read messages of its topic again',
  about: `Moves the position of the group back, as svc consumers reset does, and repeats finished work where the group can:
webhooks are sent again. What that means for a group is printed by svc consumers show. Prints the effect and asks first.`,
  options: resetOptions,
  help: `${accountHelp}

Exit codes
  0 done   1 failed   3 key missing or refused   4 refused or not confirmed

Examples
  svc replay svc.webhook-deliveries --to-time 2026-05-01T12:00:00Z --dry-run`,

  async run({ positionals, values }, context) {
    const [group = ''] = positionals;
    await withAccount(context, (client) =>
      resetGroup(context, client, { ...values, repeat: true }, group),
    );
  },
});
