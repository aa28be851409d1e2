import os
_ = os.mkdir('sub')
%cd sub
os.path.basename(os.getcwd())
