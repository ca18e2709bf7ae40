import { parseOpenApiDuration } from '../cel/times.js';

const date = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`;
/** Whether there is such a day: the pattern takes the 30th of February. */
function isDay(text: string): boolean {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
}

const hostLabel = '[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?';
const ipv4 = String.raw`(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const ipv6 = /^(?=.*:)[0-9a-fA-F:.]{2,45}$/;

const timeForm = new RegExp(
  String.raw`^${date}[Tt]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)$`,
);
const isTime = (text: string): boolean => timeForm.test(text) && isDay(text);

/** The formats that the API server checks; others say nothing. */
const formats: Readonly<Partial<Record<string, (text: string) => boolean>>> = {
  'date-time': isTime,
  datetime: isTime,
  date: (text) => new RegExp(`^${date}$`).test(text) && isDay(text),
  duration: (text) => parseOpenApiDuration(text) !== undefined,
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hostname: (text) =>
    text.length <= 255 && new RegExp(String.raw`^${hostLabel}(?:\.${hostLabel})*\.?$`).test(text),
  ipv4: (text) => new RegExp(`^${ipv4}$`).test(text),
  ipv6: (text) => ipv6.test(text),
  cidr: (text) => {
    const [address = '', bits = '', ...more] = text.split('/');
    if (more.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
    if (new RegExp(`^${ipv4}$`).test(address)) return Number(bits) <= 32;
    return ipv6.test(address) && Number(bits) <= 128;
  },
  mac: (text) => /^[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5}$/.test(text),
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  uuid: (text) => /^[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/.test(text),
  uuid4: (text) =>
    /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?4[0-9a-fA-F]{3}-?[89abAB][0-9a-fA-F]{3}-?[0-9a-fA-F]{12}$/.test(
      text,
    ),
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  creditcard: (text) => /^[\d -]{12,23}$/.test(text),
  hexcolor: (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
};

/** Whether `text` is of a format; of an unknown one every text is. */
export function hasFormat(text: string, format: string): boolean {
  return formats[format]?.(text) ?? true;
}
