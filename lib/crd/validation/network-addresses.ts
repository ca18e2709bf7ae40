/** Labels may contain symbols and letters of any script; the last label only letters. */
const hostCharacter = String.raw`a-zA-Z0-9\p{S}\p{L}`;
const hostForm = new RegExp(
  `^(?:[${hostCharacter}](?:-?[${hostCharacter}]{0,62})?` +
    `|(?:[${hostCharacter}](?:[-${hostCharacter}]{0,61}[${hostCharacter}])?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  'u',
);

/** Returns whether a text is a host name by the API server's format `hostname`. */
export function isHostname(text: string): boolean {
  const size = (part: string): number => Buffer.byteLength(part);
  return size(text) <= 255 && hostForm.test(text) && text.split('.').every((one) => size(one) < 64);
}

const ipv4Part = /^\d+$/;
const paddedPart = /(?:^|\.)0\d/;

/** Accepts four numbers up to 255; leading zeros are ignored. */
export function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((one) => ipv4Part.test(one) && Number(one) <= 255);
}

/** Accepts eight groups, or fewer with one `::`; the last two may be an IPv4 address. */
export function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (!text.includes(':') || halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const tail = last.includes('.') && !text.endsWith('::');
  if (tail && (!isIpv4(last) || paddedPart.test(last))) return false;
  if (tail) groups.pop();
  const count = groups.length + (tail ? 2 : 0);
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? count < 8 : count === 8;
}

/** Accepts an address with a prefix length. */
export function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  if (more.length > 0 || !/^\d+$/.test(bits)) return false;
  if (isIpv4(address)) return Number(bits) <= 32;
  return isIpv6(address) && Number(bits) <= 128;
}

/** Accepts 6, 8 or 20 bytes with one kind of separator. */
export function isMac(text: string): boolean {
  const bytes = text.split(/[:-]/).length;
  if (/^[0-9a-fA-F]{2}(?:(:|-)[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2})*$/.test(text)) {
    return bytes === 6 || bytes === 8 || bytes === 20;
  }
  return /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/.test(text) && [14, 19, 49].includes(text.length);
}
