import { expect } from 'chai';
import {
  configKeyProblems,
  domainPathProblems,
  generateNameProblems,
  label1035Problems,
  labelProblems,
  labelValueProblems,
  nameProblems,
  pathSegmentProblems,
  portNameProblems,
  qualifiedNameProblems,
  searchDomainProblems,
  subdomainProblems,
  wildcardProblems,
} from '../../lib/object/index.js';

const long = (length: number): string => 'a'.repeat(length);

// The messages of Kubernetes' k8s.io/apimachinery/pkg/util/validation.
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const label1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const wildcard =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const namePart =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const searchDomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
const configKey =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const portCharacters = 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)';
const portLetter = 'must contain at least one letter (a-z)';
const portHyphen = 'must not begin or end with a hyphen';
const tooLong = (limit: number, unit = 'characters') => `must be no more than ${limit} ${unit}`;

type Rows = readonly (readonly [name: string, problems: readonly unknown[]])[];

const tables: readonly (readonly [
  title: string,
  problems: (name: string) => readonly unknown[],
  rows: Rows,
])[] = [
  [
    'labels',
    labelProblems,
    [
      [long(63), []],
      [long(64), [tooLong(63)]],
      [`-${long(63)}`, [tooLong(63), label]],
      ['a.b', ['must not contain dots']],
      ['A', [label]],
    ],
  ],
  [
    'DNS-1035 labels',
    label1035Problems,
    [
      [long(63), []],
      [long(64), [tooLong(63)]],
      [`1${long(63)}`, [tooLong(63), label1035]],
      ['1a', [label1035]],
    ],
  ],
  [
    'subdomains',
    subdomainProblems,
    [
      [long(253), []],
      [long(254), [tooLong(253)]],
      [`.${long(253)}`, [tooLong(253), subdomain]],
      ['a_b', [subdomain]],
    ],
  ],
  [
    'wildcards',
    wildcardProblems,
    [
      ['*.a.b', []],
      ['*', [wildcard]],
      ['a.b', [wildcard]],
      ['*.*.a', [wildcard]],
    ],
  ],
  [
    'path segments',
    pathSegmentProblems,
    [
      ['...', []],
      ['.', ["may not be '.'"]],
      ['..', ["may not be '..'"]],
      ['a%/', ["may not contain '/'", "may not contain '%'"]],
    ],
  ],
  [
    'qualified names',
    qualifiedNameProblems,
    [
      ['example.com/My_name', []],
      [`${long(253)}/${long(63)}`, []],
      [
        'a/b/c',
        [
          `a valid label key ${namePart} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
        ],
      ],
      ['/a', ['prefix part must be non-empty']],
      ['A/a', [`prefix part ${subdomain}`]],
      [`${long(254)}/a`, [`prefix part ${tooLong(253)}`]],
      ['a/', ['name part must be non-empty', `name part ${namePart}`]],
      ['', ['name part must be non-empty', `name part ${namePart}`]],
      [long(64), [`name part ${tooLong(63, 'bytes')}`]],
      [`-${long(63)}`, [`name part ${tooLong(63, 'bytes')}`, `name part ${namePart}`]],
    ],
  ],
  [
    'label values',
    labelValueProblems,
    [
      ['', []],
      [long(63), []],
      [long(64), [tooLong(63, 'bytes')]],
      [`${long(63)}-`, [tooLong(63, 'bytes'), labelValue]],
      ['a b', [labelValue]],
    ],
  ],
  [
    'domain-prefixed paths',
    domainPathProblems,
    [
      ['a/b', []],
      ['acme.io/foo/b~%', []],
      ...['a', '/b', 'a/', ''].map(
        (value) =>
          [
            value,
            [{ value, problem: 'must be a domain-prefixed path (such as "acme.io/foo")' }],
          ] as const,
      ),
      ['A/b', [{ value: 'A', problem: subdomain }]],
      [
        'A/b c',
        [
          { value: 'A', problem: subdomain },
          {
            value: 'b c',
            problem:
              "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
          },
        ],
      ],
    ],
  ],
  [
    'search domains',
    searchDomainProblems,
    [
      ['_tcp.example.com', []],
      [long(253), []],
      [long(254), [tooLong(253)]],
      ['a_', [searchDomain]],
    ],
  ],
  [
    'keys of ConfigMaps',
    configKeyProblems,
    [
      ['.env', []],
      [long(253), []],
      [long(254), [tooLong(253)]],
      ['', [configKey]],
      [`${long(253)}/`, [tooLong(253), configKey]],
      ['.', ["must not be '.'"]],
      ['..', ["must not be '..'"]],
      ['..a', ["must not start with '..'"]],
    ],
  ],
  [
    'port names',
    portNameProblems,
    [
      ['http-80', []],
      [long(15), []],
      [long(16), [tooLong(15)]],
      ['80', [portLetter]],
      ['', [portCharacters, portLetter]],
      ['A_', [portCharacters, portLetter]],
      ['a--b', ['must not contain consecutive hyphens']],
      ['-a', [portHyphen]],
      ['a-', [portHyphen]],
    ],
  ],
];

describe('Problems of names', () => {
  for (const [title, problems, rows] of tables) {
    it(`in ${title} have the same messages as in Kubernetes`, () => {
      expect(rows.map(([name]) => [name, problems(name)])).to.deep.equal(rows);
    });
  }

  it('depend on the format that the kind requires for names', () => {
    const problems = ['subdomain', 'label', 'label1035', 'path', 'any'] as const;
    expect(problems.map((format) => nameProblems('1.%', format))).to.deep.equal([
      ...[[subdomain], [label], [label1035], ["may not contain '%'"], []],
    ]);
  });

  it('allow a dash at the end of generateName, and dots at the start of a generateName for path segments', () => {
    const rows = [
      ['a-', 'label', []],
      ['a-b-', 'subdomain', []],
      ['-', 'label1035', [label1035]],
      ['a.-', 'label', []],
      ['a.b-', 'label', ['must not contain dots']],
      ['..', 'path', []],
      ['./-', 'path', ["may not contain '/'"]],
    ] as const;
    const problems = rows.map(([text, format]) => generateNameProblems(text, format));
    expect(problems).to.deep.equal(rows.map(([, , wanted]) => wanted));
  });
});
