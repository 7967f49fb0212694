/** The form of an operation that sends a request to the gateway that serves the page. */
import { addressOf, exampleOf, type ApiOperation, type ApiParameter } from './request-samples.ts';

/** Text of a response that is shown. */
const shownCharsMax = 100_000;

/** What a person has entered once, for all operations; it is stored nowhere. */
let apiKey = '';

interface Field {
  readonly parameter: ApiParameter;
  readonly input: HTMLInputElement;
}

let fieldNumber = 0;

/** An input with its label; `hint` is read with it. */
function labeled(
  input: HTMLInputElement | HTMLTextAreaElement,
  name: string,
  hint: string,
): HTMLElement {
  fieldNumber += 1;
  input.id = `try-${fieldNumber}`;
  const label = document.createElement('label');
  label.htmlFor = input.id;
  label.textContent = name;
  const explanation = document.createElement('small');
  explanation.textContent = hint;
  const row = document.createElement('div');
  row.className = 'try-field';
  row.append(label, input, explanation);
  return row;
}

function keyField(): HTMLElement {
  const input = document.createElement('input');
  input.type = 'password';
  input.autocomplete = 'off';
  input.className = 'try-key';
  input.value = apiKey;
  input.addEventListener('input', () => {
    apiKey = input.value.trim();
    for (const other of document.querySelectorAll<HTMLInputElement>('.try-key')) {
      if (other !== input) other.value = apiKey;
    }
  });
  return labeled(input, 'API key', 'Kept in this page until it is closed.');
}

function parameterField(parameter: ApiParameter): Field & { readonly row: HTMLElement } {
  const input = document.createElement('input');
  const example = exampleOf(parameter);
  const text = typeof example === 'string' ? example : JSON.stringify(example);
  if (parameter.required === true) input.value = text;
  else input.placeholder = text;
  const where = `${parameter.in}${parameter.required === true ? ', required' : ''}`;
  return { parameter, input, row: labeled(input, parameter.name, where) };
}

const valuesIn = (fields: readonly Field[], place: string): Record<string, string> =>
  Object.fromEntries(
    fields
      .filter(({ parameter, input }) => parameter.in === place && input.value !== '')
      .map(({ parameter, input }) => [parameter.name, input.value]),
  );

/** JSON as a person reads it; any other text unchanged. */
function readable(text: string): string {
  const part = text.slice(0, shownCharsMax);
  if (part.length < text.length) return `${part}\n… ${text.length - part.length} more characters`;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return part;
  }
}

function jsonProblem(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `The body is not JSON: ${(error as Error).message}`;
  }
}

interface RequestParts {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly Field[];
  /** JSON; null: the operation takes no body. */
  readonly body: string | null;
}

/** @param base address of the gateway, with a slash at its end */
async function answerText(
  { method, path, fields, body }: RequestParts,
  base: URL,
): Promise<string> {
  const problem = body === null ? null : jsonProblem(body);
  if (problem !== null) return problem;
  const params = valuesIn(fields, 'path');
  const address = addressOf({ path, params, query: valuesIn(fields, 'query') });
  const headers = {
    ...valuesIn(fields, 'header'),
    ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
    ...(body === null ? {} : { 'content-type': 'application/json' }),
  };
  const startedAt = performance.now();
  try {
    // The session of the console is not used here.
    const init = { method: method.toUpperCase(), headers, credentials: 'omit' } as const;
    const response = await fetch(new URL(`.${address}`, base), { ...init, body });
    const text = await response.text();
    const took = Math.round(performance.now() - startedAt);
    return `${response.status} ${response.statusText} · ${took} ms\n\n${readable(text)}`;
  } catch (error) {
    return `The request was not answered: ${(error as Error).message}`;
  }
}

function sendButton(send: () => Promise<string>): readonly HTMLElement[] {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Send request';
  const output = document.createElement('pre');
  output.tabIndex = 0;
  output.setAttribute('role', 'status');
  output.hidden = true;
  button.addEventListener('click', () => {
    button.disabled = true;
    output.hidden = false;
    output.textContent = 'Waiting for the response …';
    void send().then((text) => {
      output.textContent = text;
      button.disabled = false;
    });
  });
  return [button, output];
}

function bodyInput(operation: ApiOperation): HTMLTextAreaElement | null {
  if (operation.requestBody === undefined) return null;
  const input = document.createElement('textarea');
  const example = operation.requestBody.content['application/json']?.example;
  input.value = JSON.stringify(example ?? {}, null, 2);
  input.rows = Math.min(12, input.value.split('\n').length + 1);
  return input;
}

function noteOf(text: string): HTMLElement {
  const note = document.createElement('p');
  note.textContent = text;
  return note;
}

/** @param base address of the gateway, with a slash at its end */
export function tryForm(
  method: string,
  path: string,
  { operation, base }: { readonly operation: ApiOperation; readonly base: URL },
): HTMLElement {
  const form = document.createElement('div');
  form.className = 'try';
  form.setAttribute('role', 'group');
  form.setAttribute('aria-label', `Send ${method.toUpperCase()} ${path} to this gateway`);
  const fields = (operation.parameters ?? []).map(parameterField);
  const body = bodyInput(operation);
  const send = () => answerText({ method, path, fields, body: body?.value ?? null }, base);
  form.append(
    ...((operation.security ?? []).length > 0 ? [keyField()] : []),
    ...fields.map(({ row }) => row),
    ...(body === null ? [] : [labeled(body, 'Body', 'JSON')]),
    ...(method === 'get' ? [] : [noteOf(`This changes data of the gateway at ${base.origin}.`)]),
    ...sendButton(send),
  );
  return form;
}
