import { get, post } from '../scenario.js';
import type { Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const core = '/api/v1/namespaces/{{ns}}';
const configMaps = `${core}/configmaps`;
const pods = `${core}/pods`;
const services = `${core}/services`;
const dry = '?dryRun=All';

const named = (rest: Body): Body => ({ metadata: { name: 'one' }, ...rest });

/** Texts that Go and JSON quote differently. */
const oddTexts = [
  ...[
    '\u0000',
    '\u0001',
    '\u0007',
    '\b',
    '\f',
    '\n',
    '\r',
    '\t',
    '\v',
    '\u001b',
    '\u007f',
    '\u0080',
    '\u00a0',
    '\u00ad',
  ],
  ...[
    'é',
    'ü "x"',
    'a\\b',
    '<>&',
    '\u2028',
    '\u2029',
    '\u200b',
    '\ufeff',
    '\ufffd',
    '\ufffe',
    '😀',
    '日本',
    '\u{10ffff}',
    '\u0301',
  ],
  ...[
    "it's",
    '`',
    '\ud800',
    'a\ud800b',
    '\ue000',
    '\u{1f1e6}',
    '\u061c',
    '\u{e0001}',
    '\u0378',
    '\u{1f9ff}',
    '\u3000',
  ],
];

/** Texts that the server quotes in its messages. */
export const quoting: readonly Scenario[] = [
  {
    title: 'odd texts in values',
    requests: oddTexts.flatMap((text) => [
      post(`${configMaps}${dry}`, { metadata: { name: text } }),
      post(`${configMaps}${dry}`, { metadata: { name: 'one', labels: { a: text } } }),
      post(`${configMaps}${dry}`, { metadata: { name: 'one', labels: { [text]: 'a' } } }),
      post(`${configMaps}${dry}`, { metadata: { name: 'one', finalizers: [text] } }),
      post(`${configMaps}${dry}`, named({ data: { [text]: 'x' } })),
      post(`${configMaps}${dry}`, { metadata: { name: 'one', namespace: text } }),
      post(configMaps, { apiVersion: text, kind: 'ConfigMap', metadata: { name: 'one' } }),
      post(configMaps, { apiVersion: 'v1', kind: text, metadata: { name: 'one' } }),
      post(`${configMaps}?fieldValidation=Strict`, named({ [text]: 1 })),
      post(
        `${pods}${dry}`,
        named({ spec: { restartPolicy: text, containers: [{ name: text, image: 'x' }] } }),
      ),
      post(
        `${services}${dry}`,
        named({ spec: { ports: [{ port: 80, targetPort: text }], type: text } }),
      ),
      post(
        `${pods}${dry}`,
        named({
          spec: { containers: [{ name: 'c', image: 'x', resources: { limits: { cpu: text } } }] },
        }),
      ),
    ]),
  },
  {
    title: 'odd texts in paths and queries',
    requests: oddTexts
      .filter((text) => !/[\0\ud800]/.test(text))
      .map(encodeURIComponent)
      .flatMap((text) => [
        get(`${configMaps}/${text}`),
        get(`${configMaps}?labelSelector=${text}`),
        get(`${configMaps}?labelSelector=a%3D${text}`),
        get(`${configMaps}?fieldSelector=${text}`),
        get(`${configMaps}?fieldSelector=${text}%3Da`),
        get(`${configMaps}?resourceVersion=${text}`),
        get(`${configMaps}?resourceVersion=1&resourceVersionMatch=${text}`),
        get(`${configMaps}?limit=${text}`),
        get(`${configMaps}?continue=${text}`),
        post(`${configMaps}?fieldManager=${text}`, named({})),
        post(`${configMaps}?fieldValidation=${text}`, named({})),
        post(`${configMaps}?dryRun=${text}`, named({})),
      ]),
  },
];
