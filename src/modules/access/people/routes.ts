import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { displayName } from '#http/fields.ts';
import { askOptions, repeatableOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { data, json, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis, isoMillisOrNull } from '#kernel/time.ts';
import { invitationUrl, signInUrl, type MadeCode } from '../console-codes/handlers.ts';
import { listEnvironments } from '../environments/queries.ts';
import { defineRoute, type AccessServices } from '../services.ts';
import {
  changePerson,
  createPerson,
  deactivatePerson,
  endSessionsOf,
  makeSignInCode,
  reactivatePerson,
} from './handlers.ts';
import type { Person } from './person.ts';
import { listPeople, requirePerson } from './queries.ts';
import { roleNames, type Grant } from './roles.ts';

const where = z
  .string()
  .max(255)
  .meta({ examples: ['dev'] });

const grantShape = z
  .strictObject({
    environment: where.describe(
      'Name of the environment, or `account`: the account and all environments.',
    ),
    role: z.enum(roleNames).describe('The role there.'),
  })
  .meta({ id: 'RoleGrant', examples: [{ environment: 'dev', role: 'developer' }] });

const shownGrant = z
  .strictObject({
    environment: where.describe('Name of the environment, or `account`.'),
    role: z.enum(roleNames).describe('The role there.'),
    from: z
      .enum(['owner', 'groups'])
      .describe(
        'Who gave it: an owner, or the groups of the last sign-in with the identity provider.',
      ),
  })
  .meta({ id: 'PersonRole' });

interface ShownPerson extends Person {
  /** Names of environments by UUID. */
  readonly names: ReadonlyMap<string, string>;
}

const shown = representation<ShownPerson>()({
  id: z.uuid().describe('Id of the person.'),
  email: z.string().describe('E-mail address of the person, in lower case.'),
  display_name: z.string().describe('Name of the person.'),
  roles: [
    z.array(shownGrant).describe('The roles of the person.'),
    ({ grants, groupGrants, names }) => [
      ...grants.flatMap((grant) => presentGrant(grant, 'owner', names)),
      ...groupGrants.flatMap((grant) => presentGrant(grant, 'groups', names)),
    ],
  ],
  issuer: [
    z
      .string()
      .nullable()
      .describe('Identity provider of the person; null before a sign-in with one.'),
    ({ subject }) => subject?.issuer ?? null,
  ],
  is_active: [
    z.boolean().describe('False: the person may not sign in.'),
    ({ deactivatedAt }) => deactivatedAt === null,
  ],
  created_at: [timestamp, ({ createdAt }) => isoMillis(createdAt)],
  last_sign_in_at: [
    timestamp.nullable().describe('Time of the last sign-in (RFC 3339); null before the first.'),
    ({ lastSignInAt }) => isoMillisOrNull(lastSignInAt),
  ],
});

const accountWord = 'account';

/** A grant in an environment that was deleted is not shown. */
function presentGrant(
  { environmentUid, role }: Grant,
  from: 'owner' | 'groups',
  names: ReadonlyMap<string, string>,
) {
  const environment = environmentUid === null ? accountWord : names.get(environmentUid);
  return environment === undefined ? [] : [{ environment, role, from }];
}

const personShape = shown.schema.meta({ id: 'Person' });
const onePersonShape = data(personShape);
const peopleShape = data(z.array(personShape));

const linkShape = z.strictObject({
  url: z.string().meta({
    description: 'Address that signs the person in once.',
    examples: ['https://gateway.example.com/console#invitation=Zk3…'],
  }),
  expires_at: timestamp,
});

const invitedShape = data(
  z.strictObject({
    person: personShape.describe('The person.'),
    link: linkShape.describe('The invitation, for the person alone.'),
    is_mailed: z.boolean().describe('Whether the link was sent by mail.'),
  }),
);

/** Names of environments by UUID. */
const namesOf = ({ control }: AccessServices): ReadonlyMap<string, string> =>
  new Map(listEnvironments(control).map(({ uid, name }) => [uid, name]));

const presentPerson = (services: AccessServices, person: Person) =>
  shown.of({ ...person, names: namesOf(services) });

const noStore = { 'cache-control': 'no-store' };
const path = z.strictObject({ id: z.uuid().describe('Id of the person.') });
const email = z.email().max(254).describe('E-mail address of the person.');
const grants = z
  .array(grantShape)
  .max(limits.grantsMax)
  .describe('The roles that an owner gives, in place of those before.');

const list = defineRoute({
  method: 'GET',
  path: '/people',
  credential: 'account',
  scopes: ['account:people:read'],
  summary: 'List the people, by e-mail address.',
  answers: { 200: json('The people.', peopleShape) },
  errors: [],
  async handle({ services }) {
    await services.control.view.caughtUp();
    const names = namesOf(services);
    const people = listPeople(services.control).map((person) => shown.of({ ...person, names }));
    return { status: 200, body: { data: people }, headers: noStore };
  },
});

const invite = defineRoute({
  method: 'POST',
  path: '/people',
  credential: 'account',
  scopes: ['account:people:write'],
  summary: 'Invite a person.',
  description:
    'The link signs the person in once, within seven days. It is sent by mail where a mail server is set.',
  body: z.strictObject({ email, display_name: displayName, roles: grants.min(1) }),
  answers: { 201: json('The person, and the invitation.', invitedShape) },
  errors: ['conflict', 'resource_capped', 'unknown_environment'],
  async handle(input) {
    const { body, services } = input;
    const wanted = {
      email: body.email,
      displayName: body.display_name,
      grants: grantsOf(services, body.roles),
    };
    const person = await createPerson(services, wanted, askOptions(input));
    return { ...(await linked(input, person)), status: 201 };
  },
});

const change = defineRoute({
  method: 'PATCH',
  path: '/people/{id}',
  credential: 'account',
  scopes: ['account:people:write'],
  summary: 'Change the name or roles of a person, or whether the person may sign in.',
  description:
    'Roles apply to the next request, on every node. A deactivated person is signed out at once. Roles from groups change at the next sign-in.',
  params: path,
  body: z.strictObject({
    display_name: displayName.optional(),
    roles: grants.optional(),
    is_active: z.boolean().optional().describe('Whether the person may sign in.'),
  }),
  answers: { 200: json('The person.', onePersonShape) },
  errors: ['not_found', 'unknown_environment', 'conflict'],
  async handle(input) {
    const { body, params, caller, services } = input;
    const { display_name: name, roles, is_active: isActive } = body;
    if (isActive === false && caller.personId === params.id) {
      throw new GatewayError('conflict', { message: 'You cannot deactivate yourself.' });
    }
    await requirePerson(services.control, params.id);
    const options = repeatableOptions(input);
    if (name !== undefined || roles !== undefined) {
      const changes = { displayName: name, grants: roles && grantsOf(services, roles) };
      await changePerson(services, params.id, changes, options);
    }
    if (isActive === false) await deactivatePerson(services, params.id, options);
    if (isActive === true) await reactivatePerson(services, params.id, options);
    const person = await requirePerson(services.control, params.id);
    return { status: 200, body: { data: presentPerson(services, person) }, headers: noStore };
  },
});

const link = defineRoute({
  method: 'POST',
  path: '/people/{id}/sign-in-links',
  credential: 'account',
  scopes: ['account:people:write'],
  summary: 'Make a link that signs a person in once.',
  description:
    'It works for seven days before the first sign-in of the person, and for 15 minutes after it. Earlier links of the person stop working.',
  params: path,
  answers: { 201: json('The person, and the link.', invitedShape) },
  errors: ['not_found', 'person_deactivated'],
  async handle(input) {
    const person = await requirePerson(input.services.control, input.params.id);
    return { ...(await linked(input, person)), status: 201 };
  },
});

/** The person with a new link, which was sent where there is a mail server. */
async function linked(
  input: Parameters<typeof repeatableOptions>[0] & { readonly services: AccessServices },
  person: Person,
) {
  const { services } = input;
  const { actor } = repeatableOptions(input);
  const made = await makeSignInCode(services, person, { actor });
  const { publicUrl } = services.settings;
  const url =
    person.lastSignInAt === null
      ? invitationUrl(publicUrl, made.code)
      : signInUrl(publicUrl, made.code);
  const isMailed = await mailed(services, person, { url, made });
  const shownLink = { url, expires_at: isoMillis(made.expiresAt) };
  const body = { person: presentPerson(services, person), link: shownLink, is_mailed: isMailed };
  return { body: { data: body }, headers: noStore };
}

/** Sends the link; a mail that is refused leaves the link to be copied. */
async function mailed(
  { mailer, logger, settings: { publicUrl } }: AccessServices,
  { email: to, displayName: name }: Person,
  { url, made }: { readonly url: string; readonly made: MadeCode },
): Promise<boolean> {
  if (mailer === null) return false;
  const text = [
    `Hello ${name},`,
    `this link signs you in to ${new URL(publicUrl).host} once, until ${isoMillis(made.expiresAt)}:`,
    url,
    'If you did not expect it, ignore this mail.',
  ].join('\n\n');
  try {
    await mailer.send({ to, subject: `Your sign-in to ${new URL(publicUrl).host}`, text });
    return true;
  } catch (err) {
    logger.warn({ err }, 'the link of a person was not mailed');
    return false;
  }
}

const endSessions = defineRoute({
  method: 'DELETE',
  path: '/people/{id}/sessions',
  credential: 'account',
  scopes: ['account:people:write'],
  summary: 'End all sessions of a person.',
  description: 'The browsers are signed out at once, on every node.',
  params: path,
  answers: {
    200: json(
      'How many sessions have ended.',
      data(z.strictObject({ ended: z.int().describe('Number of sessions that have ended.') })),
    ),
  },
  errors: ['not_found'],
  async handle(input) {
    const { params, services } = input;
    await requirePerson(services.control, params.id);
    const ended = await endSessionsOf(services, params.id, repeatableOptions(input));
    return { status: 200, body: { data: { ended } } };
  },
});

/** @throws GatewayError `unknown_environment` naming it */
function grantsOf(
  { control }: AccessServices,
  roles: readonly z.output<typeof grantShape>[],
): readonly Grant[] {
  const byName = new Map(listEnvironments(control).map(({ name, uid }) => [name, uid]));
  const grantAt = ({ environment, role }: z.output<typeof grantShape>): Grant => {
    if (environment === accountWord) return { environmentUid: null, role };
    const environmentUid = byName.get(environment);
    if (environmentUid !== undefined) return { environmentUid, role };
    throw new GatewayError('unknown_environment', {
      message: `There is no environment named "${environment}".`,
    });
  };
  return roles.map(grantAt);
}

export const peopleRoutes: readonly AnyRoute[] = [list, invite, change, link, endSessions];
