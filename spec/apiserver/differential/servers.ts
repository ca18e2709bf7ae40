import { Agent, request } from 'undici';
import { EmbeddedApiServer } from '../../../lib/apiserver/index.js';
import { systemClock } from '../../../lib/system/index.js';
import type { Clock } from '../../../lib/system/index.js';
import { isExistingClusterWanted } from '../../cluster/control-plane/existing-cluster.js';
import { startControlPlane } from '../../cluster/control-plane/index.js';
import { parsedBody } from '../recorded-server/recording.js';
import type { Request } from './scenario.js';

/** An answer with its whole body. */
export interface Answer {
  readonly code: number;
  readonly type: string;
  readonly warning?: string;
  /** JSON, a list of watch events, or text. */
  readonly body: unknown;
}

/** A server that scenarios run on. */
export interface Server {
  send(request: Request): Promise<Answer>;
  stop(): Promise<void>;
}

const adminToken = 'admin-token';

/** Returns an embedded server without controllers. */
function newEmbedded(clock: Clock = systemClock): EmbeddedApiServer {
  const users = { [adminToken]: { name: 'admin', uid: 'admin', groups: ['system:masters'] } };
  const server = new EmbeddedApiServer({ users, rbac: true, clock });
  // The real server starts with a compacted history, too.
  server.compact();
  return server;
}

/**
 * Returns an embedded server that is called without HTTP. Its time of day stands still, so that all writes fall into
 * the same second: which manager owns a time field depends on that.
 */
export function embeddedInProcess(): Server {
  const now = systemClock.now();
  const server = newEmbedded({ ...systemClock, now: () => now });
  return {
    send: async (step) => {
      const { status, headers, body } = await server.handle(requestOf(step, adminToken));
      let text = '';
      const decoder = new TextDecoder();
      for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
      return answerOf(step, { code: status, headers, text });
    },
    stop: () => server.stop(),
  };
}

/** Starts an embedded server without controllers, on a loopback port. */
export async function startEmbedded(): Promise<Server> {
  const server = newEmbedded();
  const url = await server.listen();
  const dispatcher = new Agent();
  return {
    send: (step) => send({ url, token: adminToken, dispatcher }, step),
    stop: async () => {
      await dispatcher.close();
      await server.stop();
    },
  };
}

/**
 * Starts a real control plane, and ends its controllers. A cluster of `USE_EXISTING_CLUSTER` must have
 * none.
 */
export async function startReal(): Promise<Server> {
  // The server needs its request limits: without them it writes no condition of a FlowSchema.
  const controlPlane = await startControlPlane();
  const { url, token, caData } = controlPlane;
  const programs = ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const;
  if (!isExistingClusterWanted()) {
    for (const program of programs) await controlPlane.processes.kill(program);
    await controlPlane.processes.compact();
  }
  const ca = Buffer.from(caData, 'base64').toString();
  const dispatcher = new Agent({ connect: { ca } });
  const access = { url, token, dispatcher };
  // With a default StorageClass, the server would set its name in claims.
  const path = '/apis/storage.k8s.io/v1/storageclasses/kwok-volume';
  await send(access, { method: 'DELETE', path });
  return {
    send: (step) => send(access, step),
    stop: async () => {
      await dispatcher.close();
      await controlPlane.stop();
    },
  };
}

interface Access {
  readonly url: string;
  readonly token: string;
  readonly dispatcher: Agent;
}

async function send({ url, token, dispatcher }: Access, step: Request): Promise<Answer> {
  const { path, ...sent } = requestOf(step, token);
  const { statusCode: code, headers, body } = await request(url + path, { ...sent, dispatcher });
  return answerOf(step, { code, headers, text: await body.text() });
}

function requestOf(step: Request, token: string) {
  const { method, path, body, type = 'application/json', accept = 'application/json' } = step;
  return {
    ...{ method, path },
    headers: {
      authorization: `Bearer ${token}`,
      'user-agent': 'differential/1',
      'content-type': type,
      accept,
      ...step.headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
}

interface Received {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

function answerOf({ path }: Request, { code, headers, text }: Received): Answer {
  const { warning } = headers;
  return {
    code,
    type: String(headers['content-type'] ?? ''),
    ...(warning !== undefined && { warning: [warning].flat().join(', ') }),
    body: path.includes('watch=true') ? events(text) : parsedBody(text),
  };
}

/**
 * Parses the events of a watch; an answer without events may be one `Status`. A bookmark after a bookmark is
 * dropped: the time decides whether the real server sends it.
 */
function events(text: string): unknown {
  const lines = text.split('\n').filter((line) => line !== '');
  const isBookmark = (line = ''): boolean => line.startsWith('{"type":"BOOKMARK"');
  const kept = lines.filter((line, at) => !(isBookmark(line) && isBookmark(lines[at - 1])));
  const bodies = kept.map(parsedBody);
  return bodies.length === 1 ? bodies[0] : bodies;
}
