import { basicOf, demand, Refusal, unauthorized } from './exchange.ts';
import { typedInto } from './fill.ts';
import {
  demandPlaced,
  placesAuthorization,
  placesSecret,
  type Rules,
  type Stage,
} from './rules.ts';
import { secret } from './tokens.ts';

const nothingToAsk: Rules['answer'] = ({ role }) => {
  throw new Refusal(404, 'not_found', `no_such_endpoint: ${role}`);
};

/** A key in the place that the definition names. */
export function apiKeyRules(stage: Stage): Rules {
  const { definition, known } = stage;
  const field = definition.credentials?.['apiKey'];
  const given = () => (field?.pattern === undefined ? secret('key') : typedInto('apiKey', field));
  let apiKey = given();
  known['apiKey'] = apiKey;
  known['credentials.apiKey'] = apiKey;
  return {
    integration: null,
    get form() {
      return { apiKey };
    },
    importable: () => ({ type: 'API_KEY', apiKey }),
    answer: nothingToAsk,
    admit(request) {
      demand(placesSecret(definition), 'definition_places_no_key');
      demandPlaced(stage, request);
    },
    endTokens() {
      apiKey = given();
      known['apiKey'] = apiKey;
      known['credentials.apiKey'] = apiKey;
    },
  };
}

/** User and password (RFC 7617), or where the definition puts them. */
export function basicRules(stage: Stage): Rules {
  const { definition, known } = stage;
  const username = secret('user');
  let password = secret('password');
  known['username'] = username;
  known['password'] = password;
  return {
    integration: null,
    get form() {
      return { username, password };
    },
    importable: () => ({ type: 'BASIC', username, password }),
    answer: nothingToAsk,
    admit(request) {
      demandPlaced(stage, request);
      if (placesAuthorization(definition)) return;
      if (placesSecret(definition)) {
        demand(request.headers.authorization === undefined, 'unexpected_credentials');
        return;
      }
      const [user, word] = basicOf(request) ?? [];
      demand(user === username && word === password, 'wrong_password', unauthorized);
    },
    endTokens() {
      password = secret('password');
      known['password'] = password;
    },
  };
}

/** Open to everyone: a credential would be one too many. */
export function noneRules(stage: Stage): Rules {
  return {
    integration: null,
    form: {},
    importable: () => ({ type: 'NONE' }),
    answer: nothingToAsk,
    admit(request) {
      demandPlaced(stage, request);
      demand(request.headers.authorization === undefined, 'unexpected_credentials');
    },
    endTokens: () => undefined,
  };
}
