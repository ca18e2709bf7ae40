// Sends the requests of the recordings to a real server without controllers, and records its
// answers: npx tsx spec/apiserver/recorded-server/record.ts [topic…]
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { startControlPlane } from '../../cluster/control-plane/index.js';
import { comparable } from './comparable.js';
import { parsedBody, recordedNamespace, recordingOf, recordingUrl, topics } from './recording.js';
import type { RecordedAnswer, RecordedStep } from './recording.js';

interface Server {
  readonly url: string;
  readonly token: string;
  readonly dispatcher: Agent;
}

async function send(server: Server, step: RecordedStep): Promise<RecordedAnswer> {
  const { method, path, body, type = 'application/json', accept = 'application/json' } = step;
  const { statusCode, headers, ...answer } = await request(server.url + path, {
    method,
    dispatcher: server.dispatcher,
    headers: {
      authorization: `Bearer ${server.token}`,
      'user-agent': 'recorder/1',
      'content-type': type,
      accept,
      ...step.headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const { warning } = headers;
  const warnings = warning === undefined ? {} : { warning: [warning].flat().join(', ') };
  return { code: statusCode, ...warnings, body: parsedBody(await answer.body.text()) };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Records a topic in a namespace of its own. In all recordings, the namespace has the same name. */
async function record(server: Server, topic: string): Promise<string> {
  const namespace = `recorded-${topic}`;
  const named = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll(recordedNamespace, namespace));
  const create = { method: 'POST', path: '/api/v1/namespaces' } as const;
  await send(server, { ...create, body: { metadata: { name: namespace } } });
  let lines = '';
  for (const step of recordingOf(topic)) {
    const answer = await send(server, named(step) as RecordedStep);
    const given = JSON.stringify(comparable(answer)).replaceAll(namespace, recordedNamespace);
    lines += `${JSON.stringify({ ...step, answer: JSON.parse(given) as unknown })}\n`;
    // A kind is served shortly after it is established.
    if (step.method !== 'GET' && /\/admissionreg[^?]*$/.test(step.path)) await pause(1500);
    // Limits take effect shortly after their creation and deletion.
    if (step.path.includes('/limitranges')) await pause(300);
    // A role takes effect shortly after its creation.
    if (step.method !== 'GET' && step.path.includes('/rbac.')) await pause(100);
    if (step.path.endsWith('/customresourcedefinitions')) await pause(3000);
  }
  return lines;
}

async function main(): Promise<void> {
  const controlPlane = await startControlPlane();
  const { url, token, caData, processes } = controlPlane;
  const ca = Buffer.from(caData, 'base64').toString();
  const server = { url, token, dispatcher: new Agent({ connect: { ca } }) };
  for (const program of ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const) {
    await processes.kill(program);
  }
  // With a default StorageClass, the server would set its name in claims.
  const storageClass = '/apis/storage.k8s.io/v1/storageclasses/kwok-volume';
  await send(server, { method: 'DELETE', path: storageClass });
  const wanted = process.argv.slice(2);
  for (const topic of topics.filter((one) => wanted.length === 0 || wanted.includes(one))) {
    writeFileSync(recordingUrl(topic), await record(server, topic));
  }
  await server.dispatcher.close();
  await controlPlane.stop();
}

await main();
