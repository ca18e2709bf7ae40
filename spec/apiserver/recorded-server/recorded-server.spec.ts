import { expect } from 'chai';
import { Api } from '../api.js';
import { comparable } from './comparable.js';
import { parsedBody, recordedNamespace, recordingOf, topics, withRbac } from './recording.js';
import type { RecordedAnswer, RecordedStep } from './recording.js';

async function send(api: Api, step: RecordedStep): Promise<RecordedAnswer> {
  const { method, path, body, type = 'application/json', accept = 'application/json' } = step;
  const response = await api.raw({
    method,
    path,
    headers: {
      ...admin,
      'user-agent': 'recorder/1',
      'content-type': type,
      accept,
      ...step.headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  let text = '';
  for await (const chunk of response.body) text += new TextDecoder().decode(chunk);
  const { warning } = response.headers;
  const answer = { code: response.status, body: parsedBody(text) };
  return comparable(warning === undefined ? answer : { ...answer, warning });
}

/** The user is in system:masters, like that of the recorder. */
const admin = { authorization: 'Bearer admin-token' };
const users = { 'admin-token': { name: 'admin', groups: ['system:masters'] } };

/** Replays steps in sequence, because later ones depend on earlier ones. */
async function replay(topic: string, steps: readonly RecordedStep[]): Promise<RecordedAnswer[]> {
  const api = new Api({ users, rbac: withRbac.includes(topic) });
  const body = { metadata: { name: recordedNamespace } };
  await send(api, { method: 'POST', path: '/api/v1/namespaces', body });
  const answers: RecordedAnswer[] = [];
  for (const step of steps) answers.push(await send(api, step));
  return answers;
}

describe('the embedded server answers like the recorded real server', () => {
  for (const topic of topics) {
    describe(topic, () => {
      const steps = recordingOf(topic);
      const answers = replay(topic, steps);
      for (const [index, { method, path, answer, differs }] of steps.entries()) {
        if (differs !== undefined) continue;
        it(`${index} ${method} ${path}`, async () => {
          expect((await answers)[index]).to.deep.equal(answer);
        });
      }
    });
  }
});
