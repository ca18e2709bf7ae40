import { isJsonObject } from '../../object/index.js';
import type { Status } from '../../object/index.js';
import { WholeBody } from '../../system/index.js';
import type { TransportRequest, TransportResponse } from '../../system/index.js';
import { jsonTypeName } from '../go-json/decoding.js';
import {
  badRequest,
  failure,
  isStatusError,
  notAcceptable,
  tooLarge,
  unsupportedMediaType,
} from '../status-error.js';
import type { StatusError } from '../status-error.js';
import { depthLimit, yamlError } from '../writes/write-request.js';
import type { RawObject, WriteRequest } from '../writes/write-request.js';
import { objectFromProtobuf, objectToProtobuf, protobufMediaType } from '../protobuf/objects.js';
import { jsonProblem, scanJson } from './json-text.js';
import { readYaml } from './yaml-body.js';
import { yamlText } from './yaml-text.js';

/** The maximum size of a body, in bytes: the limit of the real server. */
export const bodyLimitBytes = 3 * 1024 * 1024;

interface Body {
  readonly value: unknown;
  /** JSON paths of duplicate members. */
  readonly duplicates: readonly string[];
  /** The problems of repeated keys in YAML. */
  readonly yamlProblems?: readonly string[];
  readonly text: string;
}

const yamlMediaType = 'application/yaml';

/** Media types of the bodies of creates, updates and deletes. */
const objectMediaTypes = ['application/json', yamlMediaType];

/** Returns the media type of a request's body, without parameters; empty if absent. */
export function mediaTypeOf(request: TransportRequest): string {
  const { 'content-type': given = '' } = request.headers;
  const end = given.indexOf(';');
  return (end < 0 ? given : given.slice(0, end)).trim().toLowerCase();
}

/** Returns the body as text. @throws StatusError 413: it is larger than {@link bodyLimitBytes}. */
export function bodyText({ body }: TransportRequest): string {
  if (body === undefined) return '';
  if (body.length > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
  return typeof body === 'string' ? body : decoder.decode(body);
}

// Go's decoders refuse a byte order mark.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Creates the error for a body with this problem. */
type Refusal = (problem: string, text: string) => StatusError;

/** Returns the real server's error for a body that should be an object of `kind`. */
function refuseObject(kind: string): Refusal {
  return (problem, text) =>
    badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${problem} (${excerpt(text)})`,
    );
}

/** Returns the real server's error for an invalid patch. */
export const refusePatch: Refusal = (problem) => badRequest(`error decoding patch: ${problem}`);

/**
 * Parses a body of JSON or YAML, by its media type; for objects of built-in kinds, protobuf too.
 * @throws StatusError 400 malformed or too deep, 413 too large, 415 another media type.
 */
export function readObjectBody(request: TransportRequest, refuse: Refusal): Body {
  const type = mediaTypeOf(request);
  if (type === yamlMediaType) return parseYaml(bodyText(request), refuse);
  if (type === '' || type === 'application/json') return parseJson(bodyText(request), refuse);
  const { body } = request;
  if (type === protobufMediaType && body !== undefined && typeof body !== 'string') {
    const value = objectFromProtobuf(body);
    if (value !== undefined) return { value, duplicates: [], text: '' };
  }
  throw unsupportedMediaType([...objectMediaTypes, protobufMediaType]);
}

/** Parses JSON. @throws StatusError the error of `refuse`: the text is malformed, or nested too deeply. */
export function parseJson(text: string, refuse: Refusal): Body {
  const body = jsonBody(text, refuse);
  if (body === undefined) throw refuse(jsonProblem(text), text);
  return body;
}

/** Parses a body. Returns undefined if it is not JSON. @throws StatusError the error of `refuse`: it is too deep. */
function jsonBody(text: string, refuse: Refusal): Body | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { duplicates, depth } = scanJson(text);
  if (depth > depthLimit) throw refuse('exceeded max depth', text);
  // JSON.parse with a reviver is recursive, so this must follow the check of the depth.
  if (loneSurrogate.test(text)) value = JSON.parse(text, wellFormed);
  return { value, duplicates, text };
}

/** The JSON escape of a surrogate. JavaScript keeps a surrogate without its pair, and Go replaces it. */
const loneSurrogate = /\\u[dD][89a-fA-F]/;

function wellFormed(_name: string, value: unknown): unknown {
  // Encoding in UTF-8 replaces lone surrogates.
  const encodable = (text: string): string => Buffer.from(text).toString();
  if (typeof value === 'string') return encodable(value);
  if (!isJsonObject(value)) return value;
  if (Object.keys(value).every((name) => encodable(name) === name)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [encodable(name), one]));
}

const excerptLength = 30;

/** Returns the start of a text that looks like an object, else the start of its bytes in hexadecimal. */
function excerpt(text: string): string {
  if (text === '') return '<empty>';
  const bytes = Buffer.from(text);
  const encoding = /^[ \t\r\n]*\{/.test(text) ? 'utf8' : 'hex';
  const shown = bytes.subarray(0, excerptLength).toString(encoding);
  return bytes.length <= excerptLength ? shown : `${shown} ...`;
}

/** Parses YAML; JSON is YAML too. @throws StatusError 400: malformed, or too deep. */
export function parseYaml(given: string, refuse: Refusal): Body {
  if (unreadable.test(given)) throw refuseYaml('control characters are not allowed');
  // Line breaks of YAML 1.1. U+2028 and U+2029 stay in texts, without the spaces around them.
  const text = given
    .replaceAll('\u0085', '\n')
    .replaceAll(/(?<![ \t])[ \t]+(?=[\u2028\u2029])/g, '')
    .replaceAll(/(?<=[\u2028\u2029])[ \t]+/g, '');
  // Most applies are JSON. A text such as `{a: b}`, or with several documents, is only YAML.
  const body = text.trimStart().startsWith('{') ? jsonBody(text, refuse) : undefined;
  if (body !== undefined) refuseEscapes(text);
  if (body?.duplicates.length === 0) return body;
  try {
    const { json, problems: yamlProblems } = readYaml(text, bodyLimitBytes);
    return { ...parseJson(json, refuse), yamlProblems };
  } catch (error) {
    if (isStatusError(error)) throw error;
    throw badRequest(`error decoding YAML: ${(error as Error).message}`);
  }
}

/** Characters that the real server refuses in YAML. */
const unreadable = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ufffd]/;

function refuseYaml(problem: string): StatusError {
  return badRequest(`error decoding YAML: error converting YAML to JSON: yaml: ${problem}`);
}

/** An escape of JSON that Go's reader of YAML refuses. */
const unlikeYaml = /(?<!\\)(?:\\\\)*\\(\/|u[dD][89a-fA-F])/;

function refuseEscapes(json: string): void {
  const found = unlikeYaml.exec(json);
  if (found === null) return;
  const line = json.slice(0, found.index).split('\n').length;
  const what =
    found[1] === '/' ? 'unknown escape character' : 'invalid Unicode character escape code';
  throw refuseYaml(`${line === 1 ? '' : `line ${line}: `}found ${what}`);
}

/**
 * Refuses repeated keys in the body of an apply, or warns about them.
 * @throws StatusError 400: the request requires strict validation.
 */
export function checkRepeatedKeys(
  { yamlProblems = [] }: Body,
  { fieldValidation, warn }: Pick<WriteRequest, 'fieldValidation' | 'warn'>,
): void {
  if (yamlProblems.length === 0 || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Warn') yamlProblems.forEach((problem) => warn(problem));
  else {
    const problem = `error converting YAML to JSON: ${yamlError(yamlProblems)}`;
    throw badRequest(`error strict decoding YAML: ${problem}`);
  }
}

/** Reads a body that should be an object of `kind`. @throws StatusError 400, 413 or 415. */
export function readObject(request: TransportRequest, kind: string): RawObject {
  const refuse = refuseObject(kind);
  const body = readObjectBody(request, refuse);
  const value = objectOf(body, refuse);
  for (const name of ['apiVersion', 'kind']) {
    const { [name]: given = '' } = value;
    if (typeof given === 'string' || given === null) continue;
    const into = `Go struct field .${name} of type string`;
    throw refuse(`json: cannot unmarshal ${jsonTypeName(given)} into ${into}`, body.text);
  }
  const { duplicates, yamlProblems = [] } = body;
  return { value, duplicates, yamlProblems };
}

/**
 * Returns the body as a JSON object; null counts as an empty object.
 * @throws StatusError 400: it is another value.
 */
export function objectOf(
  { value, text }: Body,
  refuse: Refusal,
): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return value;
  if (value === null) return {};
  const type = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  throw refuse(`json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${type}`, text);
}

/** Returns a response with a complete body. */
export function textResponse(status: number, type: string, text: string): TransportResponse {
  return { status, headers: { 'content-type': type }, body: new WholeBody(text) };
}

/** Returns the response to a path that the server does not route. */
export function pageNotFound(): TransportResponse {
  return textResponse(404, 'text/plain; charset=utf-8', '404 page not found\n');
}

export function jsonResponse(status: number, value: unknown): TransportResponse {
  return jsonTextResponse(status, JSON.stringify(value));
}

/** Returns a JSON response with a serialised body. */
function jsonTextResponse(status: number, text: string): TransportResponse {
  return textResponse(status, 'application/json', text);
}

/** The form of an object on the wire. */
export type Encoding = 'json' | 'yaml' | 'protobuf';

/** Returns a response with an object of a built-in kind, or with the metadata of any object. */
export function objectResponse(
  status: number,
  object: unknown,
  encoding: Encoding,
): TransportResponse {
  if (encoding === 'json') return jsonResponse(status, object);
  if (encoding === 'yaml') return textResponse(status, yamlMediaType, yamlText(object));
  const bytes = objectToProtobuf(object as Parameters<typeof objectToProtobuf>[0]);
  return { status, headers: { 'content-type': protobufMediaType }, body: new WholeBody(bytes) };
}

/** Returns the answer to a binding or an eviction. */
export function createdResponse(encoding: Encoding): TransportResponse {
  const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
  return objectResponse(201, { ...success, code: 201 }, encoding);
}

/**
 * Returns the `Status` of an error, with `Retry-After` if the error has it. `accept` is the header of the
 * request; the answer is JSON if the client accepts no form of this server.
 */
export function errorResponse(error: StatusError, accept?: string): TransportResponse {
  const encoding = preferred(accept, ({ as }) => as === undefined)?.encoding ?? 'json';
  const response = statusResponse(error.body, encoding);
  const seconds = error.body.details?.retryAfterSeconds;
  if (seconds === undefined) return response;
  return { ...response, headers: { ...response.headers, 'retry-after': String(seconds) } };
}

/** A Status repeats texts of the request. They may have characters that YAML does not allow. */
function statusResponse(body: Status, encoding: Encoding): TransportResponse {
  try {
    return objectResponse(body.code ?? 500, body, encoding);
  } catch (error) {
    if (isStatusError(error)) return objectResponse(error.status, error.body, encoding);
    throw error;
  }
}

/**
 * Adds a `Warning` header to `response` for each of `warnings` (RFC 7234, code 299), in UTF-8. Like the real server,
 * drops empty warnings, and warnings with control characters such as the end of a line.
 */
export function withWarnings(
  response: TransportResponse,
  warnings: readonly string[],
): TransportResponse {
  if (warnings.length === 0) return response;
  const texts = shortened([...new Set(warnings)]).filter((text) => /^\P{Cc}+$/u.test(text));
  if (texts.length === 0) return response;
  const values = texts.map((text) => `299 - "${text.replace(/["\\]/g, '\\$&')}"`);
  // Node.js sends each character of a header as a byte.
  const warning = Buffer.from(values.join(', ')).toString('latin1');
  return { ...response, headers: { ...response.headers, warning } };
}

/** If all warnings together exceed this number of characters, each of them is cut. */
const warningsLimit = 4096;
const cutWarning = 256;

/** Shortens many warnings as the real server does: clients refuse long headers. */
function shortened(texts: readonly string[]): readonly string[] {
  const charactersOf = (text: string): readonly string[] => Array.from(text);
  if (texts.reduce((sum, text) => sum + charactersOf(text).length, 0) <= warningsLimit)
    return texts;
  const kept: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (length >= warningsLimit) break;
    const cut = charactersOf(text).slice(0, cutWarning);
    kept.push(cut.join(''));
    length += cut.length;
  }
  return kept;
}

/** The form in which the server returns objects. */
export type Representation = 'object' | 'table' | 'metadata';

/** The result of content negotiation: an accepted form that this server can serve. */
interface Accepted {
  readonly representation: Representation;
  readonly encoding: Encoding;
  /** The type that the client requests in place of the object's own, such as `Table`; empty if none. */
  readonly as: string;
  /** The version of tables and metadata. */
  readonly metaVersion: `meta.k8s.io/${string}`;
}

const served = [
  'application/json',
  yamlMediaType,
  protobufMediaType,
  'application/json;as=Table;g=meta.k8s.io;v=v1',
];

/** The media types of most answers. */
const producedTypes = ['application/json', yamlMediaType, protobufMediaType];

/**
 * Checks that `accept` names one of the media types that a route produces, or all types.
 * @throws StatusError 406: the real server's router finds none.
 */
export function checkAccepted(
  accept: string | undefined,
  produced: readonly string[] = producedTypes,
): void {
  if (accept === undefined || accept.trim() === '') return;
  const types = accept.split(',').map((clause) => (clause.split(';')[0] ?? '').trim());
  if (types.some((type) => type === '*/*' || produced.includes(type))) return;
  const message = `406: Not Acceptable\n\nAvailable representations: ${produced.join(', ')}`;
  throw failure(406, 'NotAcceptable', message, {});
}

/**
 * Refuses a request for the list of groups if `accept` names no form of it. The check of `Accept` for other paths,
 * {@link checkAccepted}, does not cover this path.
 * @throws StatusError 406
 */
export function negotiateList(accept: string | undefined): void {
  if (preferred(accept, () => true) === undefined) throw notAcceptable(producedTypes);
}

/** Returns the response with a document of discovery: in YAML if `accept` prefers it, else in JSON. */
export function documentResponse(document: object, accept: string): TransportResponse {
  const isYaml = preferred(accept, () => true)?.encoding === 'yaml';
  return objectResponse(200, document, isYaml ? 'yaml' : 'json');
}

/**
 * Picks the form of the response that `accept` prefers. Custom resources have no protobuf encoding,
 * except for their metadata.
 * @throws StatusError 406: `accept` has no form that the server can serve.
 */
export function negotiate(accept: string | undefined, custom: boolean): Accepted {
  const key = `${custom} ${accept ?? ''}`;
  const known = negotiated.get(key);
  if (known !== undefined) return known;
  if (!custom) checkAccepted(accept);
  const accepted = preferred(accept, ({ encoding, as, g, v }) => {
    if (as === undefined) return encoding !== 'protobuf' || !custom;
    const isOld = v === 'v1beta1';
    if (g !== 'meta.k8s.io' || (v !== 'v1' && !isOld)) return false;
    return representations.has(as) && ((as !== 'Table' && !isOld) || encoding !== 'protobuf');
  });
  if (accepted === undefined) throw notAcceptable(served);
  const { encoding, as = '', v = '' } = accepted;
  const representation = representations.get(as) ?? 'object';
  const found: Accepted = { encoding, representation, as, metaVersion: `meta.k8s.io/${v}` };
  if (negotiated.size >= 100) negotiated.clear();
  negotiated.set(key, found);
  return found;
}

/** The results by `Accept` header: a client sends the same few headers with all of its requests. */
const negotiated = new Map<string, Accepted>();

const representations: ReadonlyMap<string, Representation> = new Map([
  ['Table', 'table'],
  ['PartialObjectMetadata', 'metadata'],
  ['PartialObjectMetadataList', 'metadata'],
]);

/** A form that a client accepts: the encoding, and the type of the object with its group and version. */
interface Clause {
  readonly encoding: Encoding;
  readonly quality: number;
  readonly as?: string | undefined;
  readonly g?: string | undefined;
  readonly v?: string | undefined;
}

/** Returns the first clause of `accept`, by quality, that `serves` selects. */
function preferred(
  accept: string | undefined,
  serves: (clause: Clause) => boolean,
): Clause | undefined {
  return clausesOf(accept === undefined || accept.trim() === '' ? '*/*' : accept).find(serves);
}

/** The clauses of each `Accept` header: a client sends the same few headers with all of its requests. */
const parsedHeaders = new Map<string, readonly Clause[]>();

function clausesOf(header: string): readonly Clause[] {
  const parsed = parsedHeaders.get(header);
  if (parsed !== undefined) return parsed;
  // The sort is stable: of equal clauses the first one counts.
  const clauses = header.split(',').flatMap((text) => parseClause(text));
  clauses.sort((a, b) => b.quality - a.quality);
  if (parsedHeaders.size >= 100) parsedHeaders.clear();
  parsedHeaders.set(header, clauses);
  return clauses;
}

const encodings: ReadonlyMap<string, Encoding> = new Map([
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['*/*', 'json'],
  [yamlMediaType, 'yaml'],
  [protobufMediaType, 'protobuf'],
]);

function parseClause(text: string): Clause[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const encoding = encodings.get(type.toLowerCase());
  if (encoding === undefined) return [];
  const values = new Map(parameters.map((parameter) => parameter.split('=') as [string, string]));
  const quality = Number(values.get('q') ?? 1);
  const [as, g, v] = ['as', 'g', 'v'].map((name) => values.get(name));
  return [{ encoding, quality: Number.isNaN(quality) ? 1 : quality, as, g, v }];
}
