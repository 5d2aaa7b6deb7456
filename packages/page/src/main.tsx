import { render } from 'preact'
import { returnFromSignIn } from './admin/sign-in.ts'
import { Gate } from './service/gate.tsx'
import { followGround } from './styles/follow-ground.ts'
import { loadTexts } from './texts/texts.ts'

const place = document.getElementById('app')
followGround()
returnFromSignIn()
if (place !== null) void loadTexts().then(() => render(<Gate />, place))
