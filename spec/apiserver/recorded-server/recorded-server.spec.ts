import { expect } from 'chai';
import { Api } from '../api.js';
import { comparable } from './comparable.js';
import { parsedBody, recordedNamespace, recordingOf, topics } from './recording.js';
import type { RecordedAnswer, RecordedStep } from './recording.js';

async function send(api: Api, step: RecordedStep): Promise<RecordedAnswer> {
  const { method, path, body, type = 'application/json', accept = 'application/json' } = step;
  const response = await api.raw({
    method,
    path,
    headers: { 'user-agent': 'recorder/1', 'content-type': type, accept },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  let text = '';
  for await (const chunk of response.body) text += new TextDecoder().decode(chunk);
  const { warning } = response.headers;
  const answer = { code: response.status, body: parsedBody(text) };
  return comparable(warning === undefined ? answer : { ...answer, warning });
}

/** One step after the other: later ones work on what earlier ones made. */
async function replay(steps: readonly RecordedStep[]): Promise<RecordedAnswer[]> {
  const api = new Api();
  const body = { metadata: { name: recordedNamespace } };
  await send(api, { method: 'POST', path: '/api/v1/namespaces', body });
  const answers: RecordedAnswer[] = [];
  for (const step of steps) answers.push(await send(api, step));
  return answers;
}

describe('the answers of a real server', () => {
  for (const topic of topics) {
    describe(topic, () => {
      const steps = recordingOf(topic);
      const answers = replay(steps);
      for (const [index, { method, path, answer, differs }] of steps.entries()) {
        if (differs !== undefined) continue;
        it(`${index} ${method} ${path}`, async () => {
          expect((await answers)[index]).to.deep.equal(answer);
        });
      }
    });
  }
});
