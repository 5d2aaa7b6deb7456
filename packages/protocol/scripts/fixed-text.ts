// By itself, since the build imports it before any package is built.

/** The description of a field that `always` declares; "" for others. */
export function fixedText(declaration: string): string {
  const [, value] = /^ always\((null|true|false|[\d_]+|\[\]|'\w+'),/.exec(declaration) ?? []
  if (value === undefined) return ''
  return `Always ${value === '[]' ? 'empty' : value.replace(/'(\w+)'/, '`$1`').replaceAll(/(?<=\d)_/g, '')} here.`
}
