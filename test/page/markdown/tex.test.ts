import { renderToString } from 'preact-render-to-string'
import { describe, expect, test } from 'vitest'
import { texToMathMl } from '../../../packages/page/src/markdown/tex.ts'

const draw = (tex: string): string | undefined => {
  const drawn = texToMathMl(tex, false)
  return drawn && renderToString(drawn).replace(/^<math[^>]*>|<\/math>$/g, '')
}

describe('formulas as MathML', () => {
  test.each([
    ['x^2', '<msup><mi>x</mi><mn>2</mn></msup>'],
    ['x^10', '<msup><mi>x</mi><mn>1</mn></msup><mn>0</mn>'],
    ['a_{ij}^2', '<msubsup><mi>a</mi><mrow><mi>i</mi><mi>j</mi></mrow><mn>2</mn></msubsup>'],
    ['\\frac{1}{\\pi}', '<mfrac><mrow><mn>1</mn></mrow><mrow><mi>π</mi></mrow></mfrac>'],
    ['\\sqrt[3]{x}', '<mroot><mrow><mi>x</mi></mrow><mrow><mn>3</mn></mrow></mroot>'],
    ['\\sum_{i=1}^n', '<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>'],
    ['a \\leq b - 1', '<mi>a</mi><mo>≤</mo><mi>b</mi><mo>−</mo><mn>1</mn>'],
    ['\\mathbb{R}', '<mi>ℝ</mi>'],
    ['\\text{if }x', '<mtext>if\u{a0}</mtext><mi>x</mi>'],
    [
      '\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}',
      '<mrow><mo stretchy="true">(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo stretchy="true">)</mo></mrow>',
    ],
    [
      '\\left( \\frac a b \\right]',
      '<mrow><mo stretchy="true">(</mo><mfrac><mi>a</mi><mi>b</mi></mfrac><mo stretchy="true">]</mo></mrow>',
    ],
  ])('%s', (tex, mathMl) => {
    expect(draw(tex)).toBe(mathMl)
  })

  test.each([
    '\\unknown{x}',
    '\\frac{1}',
    '{',
    'a}',
    '\\left(',
    '\\begin{x}\\end{x}',
    '\\href{javascript:x}{y}',
    '{'.repeat(99),
  ])('what is not known is left as it is written: %s', (tex) => {
    expect(draw(tex)).toBeUndefined()
  })

  test('text in a formula stays text', () => {
    expect(draw('\\text{<img src=x>}')).toBe('<mtext>&lt;img src=x></mtext>')
  })
})
