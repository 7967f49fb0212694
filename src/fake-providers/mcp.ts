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
  const { base, definition, known } = stage;
  const server = new Oauth2Server(stage, { isClientInHeader: true });
  const { clientId: client_id, clientSecret: client_secret, tokens } = server;
  const resource = fill(definition.mcp_server_url ?? definition.proxy?.base_url ?? '', known);
  const issuer = `${base}/issuer`;
  const metadataUrl = `${base}/resource`;
  const isOfResource = (sent: unknown) => demand(sent === resource, 'wrong_resource');
  const answers: Partial<Record<Role, (request: ReceivedRequest) => Answer>> = {
    resource: () => answerOf({ resource, authorization_servers: [issuer] }),
    issuer: ({ url }) => {
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
    },
    register: ({ body }) => {
      const sent = JSON.parse(body) as JsonObject;
      demand(Array.isArray(sent['redirect_uris']), 'no_redirect_uri');
      return { ...answerOf({ ...sent, client_id, client_secret }), status: 201 };
    },
    authorize: (request) => {
      isOfResource(request.url.searchParams.get('resource'));
      return server.authorize(request);
    },
    token: (request) => {
      isOfResource(paramsOf(request, 'form')['resource']);
      return server.token(request);
    },
  };
  return {
    integration: null,
    form: null,
    discovered: new Set(Object.keys(answers) as Role[]),
    importable: () => {
      const { accessToken, refreshToken, expiresIn } = tokens.issue();
      return {
        type: 'MCP_OAUTH2',
        access_token: accessToken,
        refresh_token: refreshToken,
        expires_at: new Date(Date.now() + expiresIn * 1000).toISOString(),
        config_override: { client_id, client_secret },
      };
    },
    answer(request) {
      const answer = answers[request.role];
      if (answer !== undefined) return answer(request);
      throw new Refusal(404, 'not_found', `no_such_endpoint: ${request.role}`);
    },
    admit(request) {
      const { authorization } = request.headers;
      try {
        // How clients ask for the metadata.
        demand(authorization !== undefined, 'challenged', unauthorized);
        demandToken(stage, request, tokens.live());
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const challenge = `Bearer error="invalid_token", resource_metadata="${metadataUrl}"`;
        throw new Refusal(error.status, error.error, error.message, {
          'www-authenticate': challenge,
        });
      }
    },
    endTokens: () => tokens.endAccess(),
  };
}

const answerOf = (body: JsonObject): Answer => ({ status: 200, body });
