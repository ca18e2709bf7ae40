import { expect } from 'chai';
import {
  hasConversion,
  isStoredIn,
  withCurrentSchema,
} from '../../../lib/cli/scaffold/current-schema.js';
import { withMergedImports } from '../../../lib/cli/scaffold/insertions.js';

const further = `import { s, type VersionDefinition, type VersionObject } from 'operator-builder/crd';

const spec = s.object({});

/** The version v2 of Shop. */
export const shopV2 = {
  name: 'v2',
  schema: s.object({ spec }),
} satisfies VersionDefinition;

export type ShopV2 = VersionObject<typeof shopV2>;
`;

/** The code of a user above the definition of the kind, without imports. */
const above = `// limits
const limit = /* { */ 3; // '
const pattern = /[,}]{2}/;
const text = \`\${names.first}, unused\`;
const spec = s.object({
  owner: ownerOf,
  zone: s.string({ enum: zones }), // never
});`;

const own = `import { defineResource, s, type ObjectOf } from 'operator-builder/crd';
import { owner as ownerOf, other } from './owner.js';
import zones from './zones.js';
import * as names from '../names.js';
import never from 'never';
import { shopV2 } from '../v2/shop.js';
// +operator-builder:scaffold:imports

${above}

/** Shops. */
export const Shop = defineResource({
  group: 'shop.example.com',
  kind: 'Shop',
  versions: [
    {
      // The first.
      name: 'v1', // stored
      storage: true,
      schema: s.object({
        spec,
      }),
      deprecated: false,
    },
    shopV2,
    // +operator-builder:scaffold:versions
  ],
  conversion: 'none',
});
`;

const ofPackage =
  "import { s, type VersionDefinition, type VersionObject } from 'operator-builder/crd';";

const imports = [
  "import { owner as ownerOf } from '../v1/owner.js';",
  ofPackage,
  "import zones from '../v1/zones.js';",
  "import * as names from '../names.js';",
].join('\n');

describe('The generated file of a further version', () => {
  const texts = { path: 'src/api/v1/shop.ts', further, copied: 'v1', version: 'v2' };
  const made = (text: string, isStored = false): string =>
    withMergedImports(withCurrentSchema({ ...texts, own: text, isStored }));

  for (const isStored of [false, true]) {
    it(`has the code, imports and properties of the copied version${isStored ? ', and is stored' : ''}`, () => {
      expect(made(own.replaceAll('\n', '\r\n'), isStored)).to.equal(`${imports}

${above}

/** The version v2 of Shop. */
export const shopV2 = {
  name: 'v2',
${isStored ? '  storage: true,\n' : ''}  schema: s.object({
    spec,
  }),
  deprecated: false,
} satisfies VersionDefinition;

export type ShopV2 = VersionObject<typeof shopV2>;
`);
    });
  }

  it('copies the schema of a version whose file has no other constants', () => {
    const constant = `import { s, type VersionDefinition } from 'operator-builder/crd';

/** The version v1. */
export const shopV1 = {
  name: "v1",
  schema: s.object({ spec: s.object({ size: s.integer() }) }),
} satisfies VersionDefinition;

export const after = 1;
`;
    expect(made(constant)).to.equal(`${ofPackage}

/** The version v2 of Shop. */
export const shopV2 = {
  name: 'v2',
  schema: s.object({ spec: s.object({ size: s.integer() }) }),
} satisfies VersionDefinition;

export type ShopV2 = VersionObject<typeof shopV2>;
`);
    expect(isStoredIn(constant, 'v1')).to.equal(false);
    expect(isStoredIn(constant.replace('"v1",', '"v1",\n  storage: true,'), 'v1')).to.equal(true);
  });

  it('is refused if the version to copy is not found', () => {
    expect(() => made(own.replace("name: 'v1'", 'name: first'))).to.throw(
      "src/api/v1/shop.ts: no version is an object with name 'v1'; write it there as { name: 'v1', schema: … }, and run the command again",
    );
  });
});

describe('The file of a kind', () => {
  it('shows whether the kind has a conversion, and which version is stored', () => {
    const without = own.replace("  conversion: 'none',\n", '');
    expect([own, without, '', 'conversion: {}'].map(hasConversion)).to.deep.equal([
      ...[true, false, false, false],
    ]);
    expect(isStoredIn(own, 'v1')).to.equal(true);
    expect(isStoredIn(own, 'v2')).to.equal(false);
    expect(isStoredIn(own.replace('storage: true', 'storage: false'), 'v1')).to.equal(false);
  });
});
