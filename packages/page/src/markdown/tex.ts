import { h, type ComponentChild, type VNode } from 'preact'

/**
 * A formula of TeX as MathML; undefined where it holds something that is not known, so that it is shown as it is
 * written. Knows what answers hold: fractions, roots, indices, sums, Greek letters, accents, texts, fences, matrices.
 */
export function texToMathMl(tex: string, isBlock: boolean): VNode | undefined {
  try {
    const reader: Reader = { tokens: tokensOf(tex), at: 0, depth: 0 }
    const row = readRow(reader, () => false)
    return reader.at < reader.tokens.length
      ? undefined
      : element('math', { display: isBlock ? 'block' : 'inline' }, ...row)
  } catch (error) {
    if (error instanceof UnknownTex) return undefined
    throw error
  }
}

const element = (name: string, attributes: Record<string, string> | null, ...children: ComponentChild[]): VNode =>
  // A node of an element has no other properties than these.
  h(name, attributes, ...children) as VNode

class UnknownTex extends Error {}

interface Reader {
  readonly tokens: string[]
  at: number
  depth: number
}

const maxDepth = 40

const tokensOf = (tex: string): string[] => tex.match(/\\[a-zA-Z]+\*?|\\[^]|\d+(?:[.,]\d+)*|\s+|[^]/g) ?? []

const pairs = (list: string): ReadonlyMap<string, string> =>
  new Map(list.split(' ').map((pair) => [pair.slice(0, -1), pair.slice(-1)]))

const letters = pairs(
  'alphaα betaβ gammaγ deltaδ epsilonϵ varepsilonε zetaζ etaη thetaθ varthetaϑ iotaι kappaκ lambdaλ muμ nuν xiξ piπ rhoρ sigmaσ tauτ upsilonυ phiϕ varphiφ chiχ psiψ omegaω GammaΓ DeltaΔ ThetaΘ LambdaΛ XiΞ PiΠ SigmaΣ UpsilonΥ PhiΦ PsiΨ OmegaΩ ellℓ hbarℏ infty∞ partial∂ nabla∇ emptyset∅ Reℜ alephℵ',
)
const operators = pairs(
  'times× cdot⋅ div÷ pm± mp∓ ast∗ star⋆ circ∘ bullet∙ leq≤ le≤ geq≥ ge≥ neq≠ ne≠ approx≈ equiv≡ sim∼ simeq≃ cong≅ propto∝ ll≪ gg≫ in∈ notin∉ ni∋ subset⊂ subseteq⊆ supset⊃ supseteq⊇ cup∪ cap∩ setminus∖ land∧ wedge∧ lor∨ vee∨ neg¬ lnot¬ forall∀ exists∃ to→ rightarrow→ leftarrow← Rightarrow⇒ Leftarrow⇐ leftrightarrow↔ Leftrightarrow⇔ iff⇔ implies⟹ mapsto↦ uparrow↑ downarrow↓ ldots… dots… cdots⋯ vdots⋮ ddots⋱ mid∣ parallel∥ perp⟂ angle∠ degree° prime′ langle⟨ rangle⟩ lfloor⌊ rfloor⌋ lceil⌈ rceil⌉ lvert| rvert| vert| Vert‖ oplus⊕ otimes⊗ therefore∴ because∵',
)
const bigOperators = pairs('sum∑ prod∏ int∫ iint∬ oint∮ bigcup⋃ bigcap⋂ coprod∐')
const functions = new Set(
  'sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp min max sup inf lim det dim ker gcd arg deg Pr'.split(
    ' ',
  ),
)
const accents = pairs('hatˆ bar¯ vec→ dot˙ ddot¨ tilde˜ overline¯ widehatˆ widetilde˜')
const spaces = new Map([
  [',', '0.17em'],
  [':', '0.22em'],
  [';', '0.28em'],
  ['!', '0'],
  [' ', '0.3em'],
  ['quad', '1em'],
  ['qquad', '2em'],
])
const variants = new Map([
  ['mathbf', 'bold'],
  ['boldsymbol', 'bold'],
  ['mathrm', 'normal'],
  ['mathit', 'italic'],
  ['mathbb', 'double'],
  ['mathcal', 'script'],
  ['operatorname', 'normal'],
])
const doubleStruck = pairs('Nℕ Zℤ Qℚ Rℝ Cℂ Pℙ Hℍ')
const fences = new Map([
  ['pmatrix', ['(', ')']],
  ['bmatrix', ['[', ']']],
  ['vmatrix', ['|', '|']],
  ['Bmatrix', ['{', '}']],
  ['matrix', ['', '']],
  ['cases', ['{', '']],
  ['aligned', ['', '']],
  ['align', ['', '']],
  ['align*', ['', '']],
  ['array', ['', '']],
])

const row = (nodes: readonly ComponentChild[]): VNode => element('mrow', null, ...nodes)
const operator = (text: string, more: Record<string, string> = {}): VNode => element('mo', more, text)

function peek(reader: Reader): string | undefined {
  while (/^\s+$/.test(reader.tokens[reader.at] ?? '')) reader.at++
  return reader.tokens[reader.at]
}

function readRow(reader: Reader, ends: (token: string) => boolean): VNode[] {
  const nodes: VNode[] = []
  if (++reader.depth > maxDepth) throw new UnknownTex()
  for (let token = peek(reader); token !== undefined && !ends(token); token = peek(reader)) {
    const base = token === '^' || token === '_' ? row([]) : readAtom(reader)
    nodes.push(withIndices(reader, base))
  }
  reader.depth--
  return nodes
}

function withIndices(reader: Reader, base: Atom): VNode {
  let [below, above]: (VNode | undefined)[] = []
  for (let token = peek(reader); token === '_' || token === '^' || token === "'"; token = peek(reader)) {
    reader.at++
    if (token === "'") above = operator('′')
    else if (token === '_') below = readArgument(reader)
    else above = readArgument(reader)
  }
  const isLimits = 'hasLimits' in base && base.hasLimits
  const node = 'node' in base ? base.node : base
  if (below !== undefined && above !== undefined)
    return element(isLimits ? 'munderover' : 'msubsup', null, node, below, above)
  if (below !== undefined) return element(isLimits ? 'munder' : 'msub', null, node, below)
  return above === undefined ? node : element(isLimits ? 'mover' : 'msup', null, node, above)
}

/** A piece that may have indices; those of a sum are placed below and above it. */
type Atom = VNode | { readonly node: VNode; readonly hasLimits: boolean }

function readArgument(reader: Reader): VNode {
  const token = peek(reader)
  if (token === undefined) throw new UnknownTex()
  const base = /^\d{2,}/.test(token) ? readDigit(reader, token) : readAtom(reader)
  return 'node' in base ? base.node : base
}

/** Without braces, an argument is a single digit. */
function readDigit(reader: Reader, token: string): VNode {
  // The rest of the number is read next.
  reader.tokens[reader.at] = token.slice(1)
  return element('mn', null, token.slice(0, 1))
}

function readGroup(reader: Reader): VNode {
  reader.at++
  const nodes = readRow(reader, (token) => token === '}')
  expectToken(reader, '}')
  return row(nodes)
}

function expectToken(reader: Reader, token: string): void {
  if (peek(reader) !== token) throw new UnknownTex()
  reader.at++
}

/** The letters of an argument, as they are written. */
function readText(reader: Reader): string {
  expectToken(reader, '{')
  let text = ''
  for (let token = reader.tokens[reader.at]; token !== '}'; token = reader.tokens[++reader.at]) {
    if (token === undefined || token === '{') throw new UnknownTex()
    text += token.replace(/^\\(?=[^a-zA-Z])/, '')
  }
  reader.at++
  return text
}

function readAtom(reader: Reader): Atom {
  const token = peek(reader) ?? ''
  if (token === '{') return readGroup(reader)
  if (token === '}' || token === '&' || token === '$') throw new UnknownTex()
  reader.at++
  if (token.startsWith('\\')) return readCommand(reader, token.slice(1))
  if (/^\d/.test(token)) return element('mn', null, token)
  if (/^\p{L}$/u.test(token)) return element('mi', null, token)
  if (token === '-') return operator('−')
  return operator(token)
}

function readCommand(reader: Reader, name: string): Atom {
  const letter = letters.get(name)
  if (letter !== undefined) return element('mi', null, letter)
  const sign = operators.get(name)
  if (sign !== undefined) return operator(sign)
  const big = bigOperators.get(name)
  if (big !== undefined) return { node: operator(big), hasLimits: !big.startsWith('∫') && name !== 'oint' }
  if (functions.has(name))
    return { node: element('mi', null, name), hasLimits: ['lim', 'min', 'max', 'sup', 'inf'].includes(name) }
  const accent = accents.get(name)
  if (accent !== undefined) return element('mover', { accent: 'true' }, readArgument(reader), operator(accent))
  const space = spaces.get(name)
  if (space !== undefined) return element('mspace', { width: space })
  const variant = variants.get(name)
  if (variant !== undefined) return readVariant(reader, variant)
  return readStructure(reader, name)
}

function readStructure(reader: Reader, name: string): Atom {
  switch (name) {
    case 'frac':
    case 'dfrac':
    case 'tfrac':
      return element('mfrac', null, readArgument(reader), readArgument(reader))
    case 'binom':
      return row([
        operator('('),
        element('mfrac', { linethickness: '0' }, readArgument(reader), readArgument(reader)),
        operator(')'),
      ])
    case 'sqrt':
      return readRoot(reader)
    case 'text':
    case 'textrm':
    case 'textbf':
    case 'mbox':
      return element('mtext', null, readText(reader).replaceAll(/^ | $/g, '\u{a0}'))
    case 'underbrace':
      return { node: element('munder', null, readArgument(reader), operator('⏟')), hasLimits: true }
    case 'overbrace':
      return { node: element('mover', null, readArgument(reader), operator('⏞')), hasLimits: true }
    case 'boxed':
      return readArgument(reader)
    case 'left':
      return readFenced(reader)
    case 'begin':
      return readEnvironment(reader)
    case 'limits':
    case 'displaystyle':
    case 'nonumber':
      return row([])
    case 'big':
    case 'Big':
    case 'bigl':
    case 'bigr':
      return operator(fenceSign(reader))
    default:
      // An escaped sign is literal.
      if (/^[{}%$#&_|]$/.test(name)) return operator(name === '|' ? '‖' : name)
      throw new UnknownTex()
  }
}

function readVariant(reader: Reader, variant: string): VNode {
  const text = readText(reader)
  if (variant === 'double')
    return element('mi', null, [...text].map((letter) => doubleStruck.get(letter) ?? letter).join(''))
  if (variant === 'normal') return element('mi', { mathvariant: 'normal' }, text)
  return element('mi', { class: `math-${variant}` }, text)
}

function readRoot(reader: Reader): VNode {
  if (peek(reader) !== '[') return element('msqrt', null, readArgument(reader))
  reader.at++
  const degree = row(readRow(reader, (token) => token === ']'))
  expectToken(reader, ']')
  return element('mroot', null, readArgument(reader), degree)
}

function fenceSign(reader: Reader): string {
  const token = peek(reader) ?? ''
  reader.at++
  if (token === '.') return ''
  if (!token.startsWith('\\')) return token
  const name = token.slice(1)
  const sign = /^[{}|]$/.test(name) ? name.replace('|', '‖') : operators.get(name)
  if (sign === undefined) throw new UnknownTex()
  return sign
}

function readFenced(reader: Reader): VNode {
  const open = fenceSign(reader)
  const inner = readRow(reader, (token) => token === '\\right')
  expectToken(reader, '\\right')
  const close = fenceSign(reader)
  return row([operator(open, { stretchy: 'true' }), ...inner, operator(close, { stretchy: 'true' })])
}

function readEnvironment(reader: Reader): VNode {
  const name = readText(reader)
  const fence = fences.get(name)
  if (fence === undefined) throw new UnknownTex()
  if (name === 'array') readText(reader)
  const rows: VNode[] = []
  let cells: VNode[] = []
  for (;;) {
    cells.push(element('mtd', null, ...readRow(reader, (token) => ['&', '\\\\', '\\end'].includes(token))))
    const token = reader.tokens[reader.at++]
    if (token === undefined) throw new UnknownTex()
    if (token === '&') continue
    rows.push(element('mtr', null, ...cells))
    cells = []
    if (token === '\\end') break
  }
  if (readText(reader) !== name) throw new UnknownTex()
  const [open = '', close = ''] = fence
  const kind = name === 'cases' ? 'math-cases' : name.startsWith('align') ? 'math-aligned' : undefined
  const table = element('mtable', kind === undefined ? null : { class: kind }, ...rows)
  return row([
    ...(open === '' ? [] : [operator(open, { stretchy: 'true' })]),
    table,
    ...(close === '' ? [] : [operator(close, { stretchy: 'true' })]),
  ])
}
