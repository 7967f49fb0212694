import type { JsonObject } from '#kernel/stable-json.ts';
import {
  demand,
  paramsOf,
  Refusal,
  unauthorized,
  type Answer,
  type ReceivedRequest,
  type Role,
} from './exchange.ts';
import { fill } from './fill.ts';
import { Oauth2Server } from './oauth2.ts';
import { demandToken, type Rules, type Stage } from './rules.ts';

/** An MCP server with its authorization server: RFC 9728, RFC 8414, RFC 7591, RFC 8707. */
export function mcpRules(stage: Stage): Rules {
  const server = new Oauth2Server(stage, { isClientInHeader: true });
  const { clientId: client_id, clientSecret: client_secret, tokens } = server;
  const answers = answersOf(stage, server);
  return {
    integration: null,
    form: null,
    discovered: new Set(Object.keys(answers) as Role[]),
    importable: () => {
      const { accessToken, refreshToken } = tokens.issue();
      return {
        type: 'MCP_OAUTH2',
        access_token: accessToken,
        refresh_token: refreshToken,
        config_override: { client_id, client_secret },
      };
    },
    answer(request) {
      const answer = answers[request.role];
      if (answer !== undefined) return answer(request);
      throw new Refusal(404, 'not_found', `no_such_endpoint: ${request.role}`);
    },
    admit: (request) => admitted(stage, request, tokens.live()),
    endTokens: () => tokens.endAccess(),
  };
}

const issuerOf = ({ base }: Stage): string => `${base}/issuer`;
const metadataUrlOf = ({ base }: Stage): string => `${base}/resource`;

type Answers = Partial<Record<Role, (request: ReceivedRequest) => Answer>>;

function answersOf(stage: Stage, server: Oauth2Server): Answers {
  const { definition, known } = stage;
  const { clientId: client_id, clientSecret: client_secret } = server;
  const resource = fill(definition.mcp_server_url ?? definition.proxy?.base_url ?? '', known);
  const demandResource = (sent: unknown) => demand(sent === resource, 'wrong_resource');
  return {
    resource: () => answerOf({ resource, authorization_servers: [issuerOf(stage)] }),
    issuer: (request) => metadataOf(stage, request),
    register: ({ body }) => {
      const sent = JSON.parse(body) as JsonObject;
      demand(Array.isArray(sent['redirect_uris']), 'no_redirect_uri');
      return { ...answerOf({ ...sent, client_id, client_secret }), status: 201 };
    },
    authorize: (request) => {
      demandResource(request.url.searchParams.get('resource'));
      return server.authorize(request);
    },
    token: (request) => {
      demandResource(paramsOf(request, 'form')['resource']);
      return server.token(request);
    },
  };
}

/** RFC 8414 section 3.1: the name of the document is before the path of the issuer. */
function metadataOf(stage: Stage, { url }: ReceivedRequest): Answer {
  const { base } = stage;
  const issuer = issuerOf(stage);
  const wanted = `/.well-known/oauth-authorization-server${new URL(issuer).pathname}`;
  demand(url.pathname === wanted, 'wrong_address', { status: 404, error: 'not_found' });
  return answerOf({
    issuer,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    registration_endpoint: `${base}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  });
}

/** A refusal names the metadata of the resource (RFC 9728 section 5.1). */
function admitted(stage: Stage, request: ReceivedRequest, tokens: readonly string[]): void {
  try {
    // How clients ask for the metadata.
    demand(request.headers.authorization !== undefined, 'challenged', unauthorized);
    demandToken(stage, request, tokens);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const challenge = `Bearer error="invalid_token", resource_metadata="${metadataUrlOf(stage)}"`;
    throw new Refusal(error.status, error.error, error.message, {
      'www-authenticate': challenge,
    });
  }
}

const answerOf = (body: JsonObject): Answer => ({ status: 200, body });
