import { isInvalid } from '../../object/api-error.js';
import { isJsonObject } from '../../object/json.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { redacted } from '../../object/redact.js';
import { errorMessage } from '../../system/as-error.js';

/**
 * Why something failed, for events and conditions: never with what is in `object`, should it be a
 * Secret, and with the remedy where a field can't change.
 */
export function failureText(error: unknown, object?: KubernetesObject): string {
  const message = errorMessage(error);
  const text = object?.kind === 'Secret' ? withoutData(message, object) : message;
  const isFixed = isInvalid(error) && /immutable|may not be changed|are forbidden/.test(text);
  return isFixed ? `${text}; delete the object, and it is made anew` : text;
}

function withoutData(text: string, secret: object): string {
  const members = secret as { readonly data?: unknown; readonly stringData?: unknown };
  const secrets = [members.data, members.stringData].flatMap((values) =>
    isJsonObject(values) ? Object.values(values) : [],
  );
  return secrets
    .flatMap((value) => (typeof value === 'string' ? [value, decoded(value)] : []))
    .filter((value) => value !== '')
    .reduce((rest, value) => rest.replaceAll(value, redacted), text);
}

function decoded(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8');
}
