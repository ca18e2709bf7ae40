import type { TransportResponse } from '../../system/transport.js';
import { timeText } from '../go-json/go-time.js';
import { subjectOf } from '../kinds/served-kind.js';
import { findObject } from '../server-core.js';
import { notFound } from '../status-error.js';
import { isJsonObject } from '../../object/json.js';
import { readObject } from './body.js';
import type { ResourceContext } from './resource-handler.js';
import { jsonResponse } from './responses.js';

const hourSeconds = 3600;

/** POST to `serviceaccounts/token`: a token of the right form, which no one accepts. */
export function handleToken(context: ResourceContext): TransportResponse {
  const { core, kind, info, request } = context;
  const account = findObject(core, kind, info);
  if (account === undefined) throw notFound(subjectOf(kind, info.name));
  const { value: body } = readObject(request, 'TokenRequest');
  const spec = isJsonObject(body['spec']) ? body['spec'] : {};
  const { expirationSeconds: asked } = spec;
  const expirationSeconds = typeof asked === 'number' ? asked : hourSeconds;
  const now = core.clock.now();
  const subject = `system:serviceaccount:${info.namespace}:${info.name}`;
  const claims = { sub: subject, exp: Math.floor(now / 1000) + expirationSeconds };
  const encoded = [{ alg: 'none' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return jsonResponse(201, {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: info.name, namespace: info.namespace },
    spec: { ...spec, expirationSeconds },
    status: {
      token: `${encoded.join('.')}.`,
      expirationTimestamp: timeText(now + expirationSeconds * 1000),
    },
  });
}
