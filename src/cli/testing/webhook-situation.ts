import { createHmac, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ObjectFixture, SentWebhook } from '#fake-providers/objects/fixture.ts';
import { plainText } from '#kernel/json-path.ts';
import { expectTrue } from './expectations.ts';
import type { TemplateAccount } from './template-account.ts';
import type { DeployedTemplate } from './template-world.ts';

interface WebhookStage {
  readonly template: DeployedTemplate;
  readonly fixture: ObjectFixture;
  readonly account: TemplateAccount;
}

/** The provider sends the webhooks of the fixture after a first run: each changes records without another run. */
export async function webhooks({ template, fixture, account }: WebhookStage): Promise<void> {
  const webhookSecret = randomUUID();
  await account.connect({ ...fixture.metadata, webhookSecret });
  await account.start();
  const listed = template.fake.api.pages.length;
  for (const webhook of fixture.webhooks) {
    const body = JSON.stringify(webhook.body);
    const signature = signatureOf(template, body, webhookSecret);
    await account.receiveWebhook(body, { ...webhook.headers, ...signature });
    const shown = `the records of the webhook ${body}`;
    await account.until(() => isApplied(webhook, account), `${shown} are not as the fixture says`);
  }
  const isUnlisted = template.fake.api.pages.length === listed;
  expectTrue(isUnlisted, 'a run of the sync listed documents meanwhile');
}

/** Whether the records are those that the webhook leaves. */
async function isApplied(
  { records = {}, deleted_records: deletedRecords }: SentWebhook,
  account: TemplateAccount,
): Promise<boolean> {
  for (const model of new Set([...Object.keys(records), ...Object.keys(deletedRecords)])) {
    const stored = await account.records(model);
    const byId = new Map(stored.map((record) => [record.id, record]));
    for (const expected of records[model] ?? []) {
      const { _svc_metadata: metadata, ...fields } =
        byId.get(plainText(expected['id'] ?? null)) ?? {};
      if (metadata?.deleted_at !== null || !isDeepStrictEqual(fields, expected)) return false;
    }
    for (const id of deletedRecords[model] ?? []) {
      if ((byId.get(id)?._svc_metadata.deleted_at ?? null) === null) return false;
    }
  }
  return true;
}

/**
 * Headers with the signature of the text, by the secret that `metadata.webhookSecret` holds.
 * @throws Error where the provider signs in another way
 */
function signatureOf(
  { fake: { provider } }: DeployedTemplate,
  text: string,
  secret: string,
): Readonly<Record<string, string>> {
  const [rule] = provider.webhook_routing?.signatures ?? [];
  if (rule === undefined) return {};
  // The schema of the catalog has these defaults; a fake reads the definition as it is written.
  const written: Partial<typeof rule> = rule;
  const { scheme, header, message = '$body', prefix = '' } = written;
  const { algorithm = 'sha256', encoding = 'hex' } = written;
  if (scheme !== 'hmac' || header === undefined || message !== '$body')
    throw new Error(`The webhooks of ${provider.name} are not signed by an HMAC of their body`);
  const digest = createHmac(algorithm, secret).update(text).digest(encoding);
  return { [header]: `${prefix}${digest}` };
}
