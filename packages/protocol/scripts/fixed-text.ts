// By itself, since the build imports it before any package is built.

/** The description of a field that `always` declares; "" for others. */
export function fixedText(declaration: string): string {
  const [, value] = /^ always\((null|true|false|\d+|\[\]),/.exec(declaration) ?? []
  return value === undefined ? '' : `Always ${value === '[]' ? 'empty' : value} here.`
}
